#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "analyzers/sources/statements.h"

namespace opseal {

// The parameters of a C++ function that some `return` of its body hands back as they came, alone
// or as a part of a tuple. Not those that the body gives another value.
std::vector<std::size_t> returned_parameters(Tokens body,
                                             const std::vector<std::string_view>& parameters);

}  // namespace opseal
