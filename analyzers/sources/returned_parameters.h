#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "analyzers/sources/statements.h"

namespace opseal {

// A call that a parameter is handed to as it is, `prepare(x)`: where the function takes it by a
// reference, it may replace it.
struct HandedParameter {
  std::string_view function;
  // Among the arguments.
  std::size_t position = 0;
};

// A parameter of a C++ function that some `return` of its body hands back as it came.
struct ReturnedParameter {
  std::size_t index = 0;
  // What stands before the first such `return`.
  std::vector<HandedParameter> handed;
};

// Alone or as a part of a tuple. Not those that the body gives another value, nor those of whose
// name it has something of its own.
std::vector<ReturnedParameter> returned_parameters(Tokens body,
                                                   const std::vector<std::string_view>& parameters);

}  // namespace opseal
