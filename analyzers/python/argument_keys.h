#pragma once

#include <string_view>
#include <vector>

#include "analyzers/python/cache_keys.h"

namespace opseal {

// Whether a file can hold functions whose calls are told apart by named arguments.
bool may_hold_argument_keys(std::string_view text);

// Functions that are compiled, or tuned, once for each value of arguments that are named by texts:
// `triton.autotune(key=["M"])`, `jax.jit(f, static_argnames="axis")`.
std::vector<PythonCache> find_argument_keys(const ParsedPython& file);

}  // namespace opseal
