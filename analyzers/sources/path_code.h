#pragma once

#include <string_view>
#include <vector>

#include "analyzers/python/cache_keys.h"
#include "analyzers/source/plain_source.h"

namespace opseal {

// Whether a file can hold such a cache at all. Costs a fraction of reading it.
bool may_hold_path_caches(std::string_view bytes);

// Caches on disk: a function that makes a path, looks whether a file is there, and otherwise
// compiles and writes it. What flows into the path, and what of flags, architecture and dtypes is
// handed to the compiler without being in it.
std::vector<PythonCache> read_path_caches(const PlainSource& source);

}  // namespace opseal
