#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/declaration.h"
#include "analyzers/probe/ffi_question.h"

namespace opseal {

// What a call leaves: a result, or an argument that it writes.
struct CallOutput {
  bool argument = false;
  std::size_t number = 0;
};

// What an operand of an operator that computes derivatives stands for: something of the operator
// whose derivatives they are.
struct DerivativeOperand {
  enum class Role {
    // Memory, of which nothing is known.
    none,
    // Of the derivative's own results: what the operator gives, given once more.
    value,
    tangent,
    cotangent,
  };
  Role role = Role::none;
  // `of` counts outputs, not arguments.
  bool output = false;
  std::size_t of = 0;
};

// An operator's operands say that they are tangents or cotangents of those of another one.
bool computes_derivatives(const Fact& op);

// Tangents come out, or, where nothing is said of results, go in.
bool is_forward(const Fact& op);

// Why nothing is asked of it: made-up numbers in the place of those results would be wrong.
std::string handed_results_reason(std::string_view function);

// Results, then arguments that are written, but for those whose memory a result has.
std::vector<CallOutput> outputs_of(const Declaration& declaration);

// Number of the operand, arguments before results.
std::size_t place_of(const Declaration& declaration, const CallOutput& output);

// By name; of the declaration's arguments, or of what it leaves.
std::optional<std::size_t> find_argument(const Declaration& declaration, std::string_view name);
std::optional<std::size_t> find_output(const Declaration& declaration,
                                       const std::vector<CallOutput>& outputs,
                                       std::string_view name);

// What a derivative is handed under a name that says nothing else: an argument as it was handed to
// the operator, or what the operator left, which is also what an argument that it writes holds
// then. A JVP (`forward`) runs beside the operator, and is handed all arguments as they were.
// `none`: no operand has the name.
DerivativeOperand find_value(const Declaration& declaration, const std::vector<CallOutput>& outputs,
                             std::string_view name, bool forward);

// "`alpha`", where both operators state it, with different values; else empty.
std::string other_attribute(const Fact& one, const Fact& other);

// What extents with names are, as far as operands have said it.
using BoundExtents = std::vector<std::optional<std::int64_t>>;

// Takes in the extents of one operand. False: they aren't those of the shape, or others were said.
bool bind_extents(const std::vector<Extent>& shape, const std::vector<std::int64_t>& dims,
                  BoundExtents& bound);

// Bytes of what a call left there.
const std::string& bytes_of(const ffi::Answer& answer, const CallOutput& output);

}  // namespace opseal
