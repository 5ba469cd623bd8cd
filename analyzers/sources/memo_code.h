#pragma once

#include <string_view>
#include <vector>

#include "analyzers/python/cache_keys.h"
#include "analyzers/source/plain_source.h"

namespace opseal {

// Whether a file can hold such a cache at all. Costs a fraction of reading it.
bool may_hold_memos(std::string_view bytes);

// Caches in memory that a function looks into before it builds: `cache.find(key)`, and behind it
// `cache.insert({key, built})` or `cache[key] = build(…)`. What flows into the key, and what of the
// function's parameters flows into the built thing without being in the key.
std::vector<PythonCache> read_memos(const PlainSource& source);

}  // namespace opseal
