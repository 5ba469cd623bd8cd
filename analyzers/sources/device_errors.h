#pragma once

#include <cstddef>

#include "analyzers/source/tokens.h"

namespace opseal {

// What a call gives goes somewhere: it is no statement of its own. `at`: the index of its name.
bool is_used_call(Tokens tokens, std::size_t at);

// A call that gives the error of a launch before it, and is used or acts on it.
bool reads_launch_error(Tokens tokens, std::size_t at);

// `KernelLaunchChecker checker(…);`: looks at the error when it ends, with the block.
bool declares_check(Tokens tokens, std::size_t at);

}  // namespace opseal
