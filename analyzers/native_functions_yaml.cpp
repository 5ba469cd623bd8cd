#include "analyzers/native_functions_yaml.h"

#include <algorithm>
#include <cctype>

namespace opseal {
namespace {

using Kind = YamlValue::Kind;

}  // namespace

NativeFunctionsKind native_functions_kind(const YamlValue& root) {
  if (root.kind == Kind::map && root.at("backend") != nullptr) return NativeFunctionsKind::backend;
  if (root.kind == Kind::list && !root.items.empty()) {
    if (root.items[0].at("func") != nullptr) return NativeFunctionsKind::functions;
    if (root.items[0].at("name") != nullptr) return NativeFunctionsKind::derivatives;
  }
  throw YamlError(root.place,
                  "neither functions, derivatives nor a backend, expected a list whose first "
                  "element has `func` or `name`, or a map with `backend`");
}

std::vector<std::string> names_in_text(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const std::size_t first = part.find_first_not_of(' ');
    if (first != part.npos) {
      names.emplace_back(part.substr(first, part.find_last_not_of(' ') - first + 1));
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

std::vector<std::string> yaml_texts(const YamlValue* value) {
  if (value == nullptr) return {};
  if (value->kind == Kind::scalar) return names_in_text(value->text);
  std::vector<std::string> texts;
  for (const YamlValue& item : value->items) {
    if (item.kind == Kind::scalar) texts.push_back(item.text);
  }
  return texts;
}

const YamlValue* said_at(const YamlValue& map, std::string_view key) {
  const YamlValue* value = map.at(key);
  return value != nullptr && value->kind != Kind::null ? value : nullptr;
}

std::string_view name_before(std::string_view schema) {
  std::string_view name = schema.substr(0, std::min(schema.find('('), schema.size()));
  while (name.ends_with(' ')) name.remove_suffix(1);
  const bool plain = std::ranges::all_of(name, [](unsigned char byte) {
    return std::isalnum(byte) != 0 || byte == '_' || byte == '.' || byte == ':';
  });
  return plain ? name : std::string_view();
}

}  // namespace opseal
