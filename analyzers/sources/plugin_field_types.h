#pragma once

#include <cstddef>
#include <string>

#include "analyzers/source/tokens.h"

namespace opseal {

// The type that is declared for a field of a plugin, `PluginFieldType::kINT32`, behind its name and
// within the same brackets, in opseal's spelling; empty where it has no word.
std::string declared_field_type(Tokens behind);

struct FieldRead {
  // Empty where it isn't known.
  std::string type;
  // Of the token that names it.
  std::size_t at = 0;
};

// As what the bytes of a field are read in the statement that the comparison of its name at
// `compared` guards: `*static_cast<const float*>(fields[i].data)`.
FieldRead read_field_type(Tokens body, std::size_t compared);

}  // namespace opseal
