#pragma once

#include <vector>

#include "analyzers/python/cache_keys.h"
#include "analyzers/python/python_code.h"

namespace opseal {

// Caches in memory of kernels: `if key not in compiled: compiled[key] = compile(…)`.
std::vector<PythonCache> find_memo_caches(PythonCode& code);

}  // namespace opseal
