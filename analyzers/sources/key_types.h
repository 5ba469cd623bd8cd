#pragma once

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/key_code.h"

namespace opseal {

// The members of a class whose braces are a scope of the source.
KeyType read_key_type(const PlainSource& source, const Scope& scope);

}  // namespace opseal
