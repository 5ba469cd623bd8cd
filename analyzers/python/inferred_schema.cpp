#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/python/functions.h"

namespace opseal {

namespace {

constexpr std::string_view blanks = " \t\r\n";

// Without blanks and module names: `typing.Optional[torch.Tensor]` is `Optional[Tensor]`.
std::string plain(std::string_view annotation) {
  std::string text;
  std::size_t word = 0;
  for (const char c : annotation) {
    if (blanks.find(c) != std::string_view::npos || c == '"' || c == '\'') continue;
    if (c == '.') {
      text.resize(word);
      continue;
    }
    text += c;
    if (c == '[' || c == ',' || c == '|' || c == ']') word = text.size();
  }
  return text;
}

std::string base_type(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> types = {{
      {"Tensor", "Tensor"},
      {"int", "SymInt"},
      {"float", "float"},
      {"bool", "bool"},
      {"str", "str"},
      {"Number", "Scalar"},
      {"dtype", "ScalarType"},
      {"device", "Device"},
  }};
  for (const auto& [python, torch] : types) {
    if (name == python) return std::string(torch);
  }
  return {};
}

// The part within `word[...]`, or nothing.
std::string_view within(std::string_view text, std::string_view word) {
  if (!text.starts_with(word) || !text.ends_with("]")) return {};
  text.remove_prefix(word.size());
  if (!text.starts_with("[")) return {};
  return text.substr(1, text.size() - 2);
}

// Optional around it or not, as `type` says.
std::string element_type(std::string_view type) {
  if (const std::string_view inner = within(type, "Optional"); !inner.empty()) {
    const std::string found = base_type(inner);
    return found.empty() ? found : found + "?";
  }
  if (type.ends_with("|None")) {
    const std::string found = base_type(type.substr(0, type.size() - 5));
    return found.empty() ? found : found + "?";
  }
  return base_type(type);
}

std::string list_type(std::string_view type) {
  for (const std::string_view word : {"List", "list", "Sequence"}) {
    if (const std::string_view inner = within(type, word); !inner.empty()) {
      const std::string found = element_type(inner);
      return found.empty() ? found : found + "[]";
    }
  }
  return {};
}

std::string parameter_type(std::string_view type) {
  if (std::string found = element_type(type); !found.empty()) return found;
  if (std::string found = list_type(type); !found.empty()) return found;
  std::string_view inner = within(type, "Optional");
  if (inner.empty() && type.ends_with("|None")) inner = type.substr(0, type.size() - 5);
  const std::string found = inner.empty() ? std::string() : list_type(inner);
  return found.empty() ? found : found + "?";
}

std::string return_type(std::string_view type) {
  if (type == "None") return "()";
  for (const std::string_view word : {"Tuple", "tuple"}) {
    std::string_view inner = within(type, word);
    if (inner.empty()) continue;
    std::string text = "(";
    while (!inner.empty()) {
      const std::size_t comma = inner.find(',');
      const std::string found = base_type(inner.substr(0, comma));
      if (found.empty()) return {};
      text += (text.size() > 1 ? ", " : "") + found;
      inner = comma == std::string_view::npos ? std::string_view() : inner.substr(comma + 1);
    }
    return text + ")";
  }
  if (const std::string found = list_type(type); !found.empty()) return found;
  return base_type(type);
}

std::string default_text(std::string_view written) {
  if (written.size() > 1 && (written.front() == '\'' || written.front() == '"')) {
    return '"' + std::string(written.substr(1, written.size() - 2)) + '"';
  }
  return std::string(written);
}

}  // namespace

std::string inferred_torch_schema(const PythonFunction& function,
                                  const std::vector<std::string>& mutated) {
  if (!function.found || function.variadic || function.returns.empty()) return {};
  const bool all = std::find(mutated.begin(), mutated.end(), "unknown") != mutated.end();
  std::string text = "(";
  bool keyword_only = false;
  std::size_t index = 0;
  for (const PythonParameter& parameter : function.parameters) {
    std::string type = parameter_type(plain(parameter.annotation));
    if (type.empty()) return {};
    const bool writes =
        all || std::find(mutated.begin(), mutated.end(), parameter.name) != mutated.end();
    if (writes && type.starts_with("Tensor")) {
      type = "Tensor(a" + std::to_string(index) + "!)" + type.substr(6);
    }
    if (text.size() > 1) text += ", ";
    if (parameter.keyword_only && !keyword_only) {
      text += "*, ";
      keyword_only = true;
    }
    text += type + " " + parameter.name;
    if (!parameter.standard.empty()) text += "=" + default_text(parameter.standard);
    ++index;
  }
  const std::string returns = return_type(plain(function.returns));
  return returns.empty() ? std::string() : text + ") -> " + returns;
}

}  // namespace opseal
