#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/ffi_frame.h"
#include "analyzers/probe/ffi_signature.h"

namespace opseal::ffi {

// `view`: a call with operands whose elements do not lie side by side, held against one in which
// they do. `handed`: of no kernel, but which handlers modules of Python hand out. `values`: a call
// for what it makes of stated numbers alone.
enum class QuestionKind : std::uint32_t {
  metadata,
  signature,
  call,
  threads,
  view,
  handed,
  values
};

struct QuestionOperand {
  std::int32_t dtype = 0;
  std::vector<std::int64_t> dims;
  // The declaration lets the kernel write it.
  bool written = false;
  // Its numbers may be indexes into another operand: all are 0, which every extent but 0 has.
  bool indexes = false;
  // A result whose buffer is that of an argument, by number; -1: its own.
  std::int32_t shares = -1;
  // In elements; empty: side by side, the last axis fastest.
  std::vector<std::int64_t> strides{};
  // Of an argument: what it holds, elements side by side; empty: generated numbers.
  std::string bytes{};
};

// Bytes of its elements; 0 where no dtype has its number.
std::size_t size_of(const QuestionOperand& operand);

struct Question;
// Bytes of all operands.
std::size_t size_of(const Question& question);

// One argument of a plain C function.
struct PlainArgument {
  enum class Kind : std::uint8_t {
    // A null pointer.
    null,
    // `bytes`, as a number of the dtype.
    value,
    // Pointers to the elements of an operand, and to its strides or extents as numbers of the
    // dtype.
    data,
    strides,
    shape,
    // The stride of one axis, as a number of the dtype.
    stride,
  };
  Kind kind = Kind::null;
  // Number of the operand, arguments before results, and of its axis.
  std::uint32_t operand = 0;
  std::uint32_t axis = 0;
  std::int32_t dtype = 0;
  // Strides count bytes, not elements.
  bool in_bytes = false;
  std::string bytes;
};

// A handler of XLA's FFI that runs before the one that does the work.
struct EarlyHandler {
  std::int32_t stage = instantiate;
  std::string symbol;
};

// How a plain C function is called.
struct PlainInterface {
  std::vector<PlainArgument> arguments;
  // Dtype of the status that it returns, of which 0 is good; 0: nothing that is looked at.
  std::int32_t status = 0;
  // Number of the result, a single element, that it returns instead; -1: none.
  std::int32_t returned = -1;
};

// What a child is asked about one kernel.
struct Question {
  QuestionKind kind = QuestionKind::metadata;
  // Path.
  std::string library;
  // A module hands it out by the name `symbol`, and no library is opened.
  bool handed = false;
  std::string symbol;
  std::vector<QuestionOperand> arguments;
  std::vector<QuestionOperand> results;
  std::vector<Attribute> attributes;
  // Not said: a handler of XLA's FFI.
  std::optional<PlainInterface> plain;
  // In the order of their stages, each stage once.
  std::vector<EarlyHandler> early;
  std::uint32_t seed = 0;
  // Minor version of the handler's headers, as the handshake told it; -1: not known.
  std::int32_t minor = -1;
  // Of `threads`: calls at once.
  std::uint32_t threads = 0;
  // The answer shall hold the bytes of the results.
  bool keeps_results = false;

  // No operand is empty.
  bool has_elements() const;
};

// By its number, arguments before results. Needs: there is one.
const QuestionOperand& operand_at(const Question& question, std::size_t number);

// A buffer that is not as it should be. `index`: the first element, or the byte for `trespass`.
struct BufferDamage {
  // `argument 0`, `result 1`
  std::string buffer;
  std::int64_t index = 0;
  std::uint32_t elements = 0;
};

// A handler that a module of Python hands out.
struct HandedHandler {
  std::string name;
  // Path of the library that it lies in, or of the module that made it.
  std::string library;
  std::string stage;
  // Why it must not be called; empty: it can be.
  std::string lack;
};

struct Answer {
  // Empty: the library was opened and the symbol was there.
  std::string not_loaded;
  MetadataAnswer metadata;
  // Of `signature`.
  RecoveredSignature signature;
  // Of `call` and `threads`: how the first call ended.
  CallEnd end;
  // What the handler asked its caller for and a probe has none of: `a stream of a device`. Empty:
  // nothing.
  std::string lacked;
  // Bytes next to a buffer that were written; `index` is in bytes from the buffer's start.
  std::vector<BufferDamage> trespasses;
  // Arguments that were changed although nothing says that they are written.
  std::vector<BufferDamage> written_arguments;
  // Arguments that are said to be written and never were.
  std::vector<BufferDamage> unwritten_arguments;
  // Elements of results that two calls left as they were before, whatever that was.
  std::vector<BufferDamage> unwritten_results;
  // Why a call was refused whose twin with equal arguments was served before. Empty: none was.
  std::string refused_again;
  // Elements of results that differ between two calls with equal arguments; of `values`, also of
  // arguments that are written.
  std::vector<BufferDamage> unstable_results;
  // Of `threads`: calls that end otherwise than a call alone, or whose results are other bits
  // though those of calls alone repeat; and of these, those that are off by more than another order
  // of additions explains.
  std::vector<BufferDamage> thread_results;
  std::vector<BufferDamage> thread_values;
  // Of `view`: elements of results, and of arguments that are written, that are not as in the call
  // with all elements side by side.
  std::vector<BufferDamage> view_results;
  // Results of which every element has no more digits than a dtype half as wide has: `index` is how
  // many, `elements` of how many elements.
  std::vector<BufferDamage> narrow_results;
  // Bytes of each result after the first call, where they were asked for.
  std::vector<std::string> results;
  // Of `values`: those of each argument after it.
  std::vector<std::string> arguments;
  // Of `handed`.
  std::vector<HandedHandler> handed;
};

std::string write_question(const Question& question);
// False: it is no question.
bool read_question(std::string_view bytes, Question& question);
std::string write_answer(const Answer& answer);
bool read_answer(std::string_view bytes, Answer& answer);

// What bytes the answer holds of operands are as many as the question states, or it holds none.
// What a child says may be anything.
bool fits(const Answer& answer, const Question& question);

// In the child: asks the kernel.
Answer ask(const Question& question);

// For `run_probe_child`.
std::string answer_question(std::string_view question);

}  // namespace opseal::ffi
