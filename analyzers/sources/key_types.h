#pragma once

#include <string_view>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/key_code.h"

namespace opseal {

// By its name a field says how an object is kept, not what it is.
bool is_exempt_key_field(std::string_view name);

// The members of a class whose braces are a scope of the source.
KeyType read_key_type(const PlainSource& source, const Scope& scope);

}  // namespace opseal
