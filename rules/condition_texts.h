#pragma once

#include <string_view>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// Parts of a condition between `&&`, outside of brackets.
inline std::vector<std::string_view> conjuncts(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    if (depth != 0 || text.substr(at, 2) != "&&") continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 2;
    ++at;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// The thing itself is handed to a function, which may ask it anything: `fits($)`.
inline bool hands_on(std::string_view text) {
  for (std::size_t at = text.find('$'); at != text.npos; at = text.find('$', at + 1)) {
    if (text.substr(at + 1, 2) != "->") return true;
  }
  return false;
}

// What a predicate asks of a kind besides, where all of it is said and can be read.
inline bool says_conditions(const Fact& conditions) {
  if (!conditions.is_list()) return false;
  for (const Fact condition : conditions.items()) {
    if (!condition.is_text() || hands_on(condition.text())) return false;
  }
  return true;
}

inline bool asks_for(const Fact& conditions, std::string_view word) {
  for (const Fact condition : conditions.items()) {
    if (condition.text().find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace opseal
