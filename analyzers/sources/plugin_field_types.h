#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

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

// Names of a body that stand for a field of the collection, or for its bytes: `auto const& field =
// fc->fields[i];`, one that is asked for its `name`, `void const* data = field.data;`.
std::set<std::string_view> field_objects(Tokens body);

// As what the bytes of a field are read in the statement that the comparison of its name at
// `compared` guards: `*static_cast<const float*>(fields[i].data)`. Not
// what is done with the bytes of anything else there.
FieldRead read_field_type(Tokens body, std::size_t compared,
                          const std::set<std::string_view>& objects);

}  // namespace opseal
