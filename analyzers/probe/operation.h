#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzers/probe/element_places.h"
#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/guarded_buffer.h"

namespace opseal::ffi {

struct KernelEnd {
  CallEnd end;
  // As `Answer::lacked`.
  std::string lacked;
};

// One call of a kernel, whatever its interface is: hands over arguments and results, and waits for
// the end. Several threads may call at once.
using KernelCall =
    std::function<KernelEnd(std::vector<BufferView> arguments, std::vector<BufferView> results)>;

using Bytes = std::vector<unsigned char>;

// The buffers of one call, and what was in them. There are two sets: in one each buffer ends beside
// pages that can't be touched, in the other it begins there.
class Operation {
 public:
  using Side = GuardedBuffer::Side;

  // Needs: both outlive it.
  Operation(const Question& question, const KernelCall& call);

  // Numbers beyond what a kernel may cut off. False: some argument that is written has none such.
  bool seed_wild();
  // Numbers with all digits that the dtype has. False: no argument has such.
  bool seed_full(std::uint64_t seed);
  // The values that another operation hands over.
  void take_arguments(const Operation& other) { pristine_ = other.pristine_; }

  // Calls the kernel with the buffers of that set. What no argument says holds `poison` before.
  CallEnd run(unsigned char poison, Side side = Side::end);
  // Of the last run.
  const std::string& lacked() const { return lacked_; }

  // Of the last run, as all below. Elements side by side, wherever they lay.
  std::vector<Bytes> results() const;
  std::vector<Bytes> arguments() const;

  void find_trespasses(std::vector<BufferDamage>& found) const;
  // Arguments that are declared to be written, or not, and were the other thing.
  void find_writes(bool declared, std::vector<BufferDamage>& found) const;

 private:
  struct Buffers {
    std::vector<GuardedBuffer> arguments;
    std::vector<GuardedBuffer> results;
  };

  void seed(std::uint64_t seed);
  // Elements that lie in one place are one value.
  void unite(std::size_t argument);
  bool is_shared(std::size_t argument) const;
  const GuardedBuffer& result_buffer(std::size_t at) const;
  const ElementPlaces& result_places(std::size_t at) const;

  const Question& question_;
  const KernelCall& call_;
  std::string lacked_;
  Buffers ending_;
  Buffers starting_;
  // Of the last run.
  Buffers* last_ = &ending_;
  std::vector<ElementPlaces> argument_places_;
  std::vector<ElementPlaces> result_places_;
  // What arguments hold, elements side by side.
  std::vector<Bytes> pristine_;
};

// Throws std::invalid_argument where no dtype has the operand's number.
const DtypeInfo& dtype_of(const QuestionOperand& operand);

}  // namespace opseal::ffi
