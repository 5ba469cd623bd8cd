#pragma once

#include <string_view>

#include "analyzers/python/parsed.h"
#include "analyzers/sources/key_code.h"

namespace opseal {

// Whether a file can have classes with a comparison and a hash of their own.
bool may_hold_key_classes(std::string_view text);

// Classes of Python that are compared and hashed by methods of their own: their fields are what
// `__init__` keeps of its parameters as it is.
KeyCode read_key_classes(const ParsedPython& file, std::uint32_t number);

}  // namespace opseal
