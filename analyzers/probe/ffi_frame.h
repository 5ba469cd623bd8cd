#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzers/probe/ffi_abi.h"
#include "analyzers/probe/ffi_runtime.h"

namespace opseal::ffi {

struct BufferView {
  std::int32_t dtype = 0;
  std::vector<std::int64_t> dims;
  void* data = nullptr;
  // `no_argument`: the kind of operand that every handler refuses before it looks at any of them.
  std::int32_t type = buffer_argument;
  // In elements. Handlers are not told.
  std::vector<std::int64_t> strides{};
};

struct Attribute {
  std::string name;
  AttributeType type = scalar_attribute;
  // Of scalars and arrays.
  std::int32_t dtype = 0;
  // Elements of arrays.
  std::size_t elements = 1;
  // The value; eight bytes for a number, text for a string.
  std::string bytes;
};

// Arguments, results and attributes of one call, and the structs that the interface wants to see
// them in. Counts may be set to anything afterwards: a handler has to look at them first.
class CallFrame {
 public:
  CallFrame(Context& context, std::int32_t stage);
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

  void set_arguments(std::vector<BufferView> buffers);
  void set_results(std::vector<BufferView> buffers);
  // `sorted`: by name, as every caller has to. Else in the order given.
  void set_attributes(std::vector<Attribute> attributes, bool sorted = true);

  Frame& frame() { return frame_; }

 private:
  struct Side {
    std::vector<BufferView> views;
    std::vector<Buffer> buffers;
    std::vector<std::int32_t> types;
    std::vector<void*> pointers;
  };
  static Operands operands_of(Side& side);

  Frame frame_{};
  Side arguments_;
  Side results_;
  std::vector<Attribute> attributes_;
  std::vector<ByteSpan> names_;
  std::vector<ByteSpan*> name_pointers_;
  std::vector<std::int32_t> types_;
  // One of these stands for each attribute.
  std::vector<Scalar> scalars_;
  std::vector<Array> arrays_;
  std::vector<ByteSpan> strings_;
  std::vector<Attributes> dictionaries_;
  std::vector<void*> pointers_;
};

struct CallEnd {
  enum class How : std::uint8_t { returned, failed, threw };
  How how = How::returned;
  std::int32_t code = ok;
  // The error's, or what the exception says.
  std::string message;
};

// Calls a handler and waits for what it does later. An exception that leaves it ends here.
CallEnd call(Handler* handler, CallFrame& frame);

struct MetadataAnswer {
  // False: the handler didn't fill anything in.
  bool answered = false;
  int major = -1;
  int minor = -1;
  std::uint32_t traits = 0;
  // 0: none, or made before there were any.
  std::int64_t state_type = 0;
  CallEnd end;
};

// The handshake by which a framework asks for what the handler was built with.
MetadataAnswer ask_metadata(Handler* handler);

}  // namespace opseal::ffi
