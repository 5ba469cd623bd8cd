#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/ffi_question.h"
#include "opseal/facts.h"

namespace opseal {

// An operand of a call whose elements lie in another way.
struct PlannedView {
  // `x=reversed`
  std::string identity;
  // Number of the operand, arguments before results.
  std::size_t operand = 0;
  // In elements.
  std::vector<std::int64_t> strides;
};

// How a plain C function is called, as the `arguments` of a kernel in a manifest say.
class PlainPlan {
 public:
  // `operands`: names, arguments before results; `extents`: names in their shapes.
  PlainPlan(const Fact& op, const Fact& kernel, std::vector<std::string> operands,
            std::vector<std::string> extents);

  // Why it can't be called; empty: it can.
  const std::string& skipped() const { return skipped_; }

  // For a call whose operands the question states, with these extents by number. Nothing: one of
  // the numbers doesn't fit its type.
  std::optional<ffi::PlainInterface> bind(const ffi::Question& question,
                                          const std::vector<std::int64_t>& sizes) const;

  // Ways to lay out the operands whose strides the function is told, of each operand by itself. An
  // axis whose stride isn't told, or is told with a bound that keeps it from that, stays as it is.
  std::vector<PlannedView> views(const ffi::Question& question) const;

 private:
  struct Argument {
    enum class Number { none, extent, axis, rank, size, bytes };
    ffi::PlainArgument plain;
    // What a value is that depends on the call.
    Number number = Number::none;
    std::size_t extent = 0;
  };
  // Of a stride that is told.
  struct Told {
    std::int64_t least = 0;
    std::int64_t most = 0;
    bool in_bytes = false;
  };

  void read(std::string_view text);
  // The output of that name is what the function returns.
  void read_returned(std::string_view name);
  // False: the word after the dot is none that we know.
  bool read_property(std::string_view word, std::int32_t dtype, std::string_view bound,
                     Argument& argument);
  bool read_attribute(std::string_view name, std::int32_t dtype, Argument& argument);
  void tell(const ffi::PlainArgument& argument, std::int64_t least, bool every_axis);
  bool takes(const ffi::QuestionOperand& operand, std::size_t number,
             const std::vector<std::int64_t>& strides) const;
  bool is_told(std::size_t operand, std::size_t axis) const;
  void skip(std::string_view text, std::string_view why);

  Fact op_;
  std::vector<std::string> operands_;
  std::vector<std::string> extents_;
  std::vector<Argument> arguments_;
  std::int32_t status_ = 0;
  // The operand that the function returns, arguments counted; none: a status, or nothing.
  std::optional<std::size_t> returned_;
  // By operand and axis; axis -1: all of them.
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<Told>> told_;
  std::string skipped_;
};

}  // namespace opseal
