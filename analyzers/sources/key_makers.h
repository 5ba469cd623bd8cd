#pragma once

#include <string_view>
#include <vector>

#include "analyzers/python/cache_keys.h"
#include "analyzers/source/plain_source.h"

namespace opseal {

// Whether a file can hold such a function at all. Costs a fraction of reading it.
bool may_hold_key_makers(std::string_view bytes);

// Functions that make the key of a look-up of the same file, are handed a device, a dtype or a
// setting, and leave it out: what is used are the parts, what isn't the reads.
std::vector<PythonCache> read_key_makers(const PlainSource& source);

}  // namespace opseal
