#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// The parts between separators; one empty part of an empty text.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

inline std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Calls `visit(name, value)` for each `Name: value` of a head like that of a mail, which ends at
// the first empty line. A value goes on in lines that begin with a space, which become one.
template <typename Visit>
void for_each_field(std::string_view text, Visit visit) {
  std::string_view name;
  std::string value;
  const auto tell = [&] {
    if (!name.empty()) visit(name, trim(value));
  };
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    // A line of spaces belongs to the value: licences are quoted with their empty lines.
    if (line.empty() || line == "\r") break;
    if (line.front() == ' ' || line.front() == '\t') {
      value += ' ';
      value += trim(line);
      continue;
    }
    tell();
    const std::size_t colon = line.find(':');
    name = colon == line.npos ? std::string_view() : line.substr(0, colon);
    value = colon == line.npos ? std::string_view() : line.substr(colon + 1);
  }
  tell();
}

}  // namespace opseal
