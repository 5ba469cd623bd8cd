#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/yaml_tree.h"

namespace opseal {

enum class NativeFunctionsKind { functions, derivatives, backend };

// Throws YamlError for a file that is of no kind.
NativeFunctionsKind native_functions_kind(const YamlValue& root);

// The names of `CPU, CUDA`, without the spaces.
std::vector<std::string> names_in_text(std::string_view text);

// The texts of a list, or the names of a scalar; of nothing, none.
std::vector<std::string> yaml_texts(const YamlValue* value);

// The value under a key of a map, or nullptr: `key:` with nothing behind it says as little as no
// key.
const YamlValue* said_at(const YamlValue& map, std::string_view key);

// The name in front of the `(` of a schema that can't be read as a whole, or nothing.
std::string_view name_before(std::string_view schema);

}  // namespace opseal
