#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzers/python/syntax.h"

namespace opseal {

// A place of a backward that asks `ctx.needs_input_grad` for one input, or all from one on.
struct PythonGradientGuard {
  // The subscript.
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t input = 0;
  // `[3:]`.
  bool open_ended = false;
  // The place, among the gradients handed back, of the one that is made there, where the gradient
  // of that input isn't; with `open_ended` the place from which on they are.
  std::optional<std::uint32_t> output;
};

// Those of a function whose first parameter is the context.
std::vector<PythonGradientGuard> python_gradient_guards(const PythonSyntax& syntax,
                                                        SyntaxIndex function);

}  // namespace opseal
