#pragma once

#include <cstdint>

#include "analyzers/source/tokens.h"
#include "analyzers/sources/autograd.h"

namespace opseal {

// The inputs that a forward written in C++ writes to (`x.mul_(2)`, `x *= 2`) and hands back, and
// for which some `return` of the backward writes out a gradient. `parameters`: in the brackets of
// the forward, the context first; `forward`, `backward`: the bodies. Nothing where the class marks
// any input, or hands the context to another function.
void read_autograd_writes(Tokens parameters, Tokens forward, Tokens backward, std::uint32_t file,
                          AutogradFacts& facts);

}  // namespace opseal
