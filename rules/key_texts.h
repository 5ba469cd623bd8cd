#pragma once

#include <cctype>
#include <string_view>

namespace opseal {

// Marks that a text of a cache key comes from one process or one machine.

inline std::size_t hex_digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  return end - at;
}

// The address in `<function f at 0x7f3a5c0012d0>` or in `f@0x00007f3a5c0012d0`, or empty. A number
// that is the whole text, or has another length than an address, is as likely a digest.
inline std::string_view address_in(std::string_view text) {
  for (std::size_t at = text.find("0x"); at != text.npos; at = text.find("0x", at + 2)) {
    const std::size_t digits = hex_digits_at(text, at + 2);
    const std::string_view number = text.substr(at, digits + 2);
    // As `object.__repr__` of Python, and its likes, write it.
    if (at >= 4 && text.substr(at - 4, 4) == " at " && digits >= 6 && digits <= 16) return number;
    if (number.size() == text.size()) continue;
    std::string_view high = number.substr(2);
    while (high.size() > 12 && high.front() == '0') high.remove_prefix(1);
    // Where 64-bit systems map libraries and heaps.
    if (high.size() == 12 && (high.starts_with("7f") || high.starts_with("55") ||
                              high.starts_with("56") || high.starts_with("7e"))) {
      return number;
    }
  }
  return {};
}

// `/usr/local/cuda`, `C:\cuda`, and the same behind an option or between quotes; or empty.
inline std::string_view absolute_path_in(std::string_view text) {
  constexpr std::string_view before = " \t\"'=,;:([";
  for (std::size_t at = 0; at + 2 < text.size(); ++at) {
    const char first = text[at];
    const bool begins =
        at == 0 || before.find(text[at - 1]) != before.npos ||
        (at >= 2 && text[at - 2] == '-' && (text[at - 1] == 'I' || text[at - 1] == 'L'));
    if (!begins) continue;
    const bool unix_path = first == '/' &&
                           std::isalpha(static_cast<unsigned char>(text[at + 1])) != 0 &&
                           text.find('/', at + 1) != text.npos;
    const bool windows_path =
        std::isalpha(static_cast<unsigned char>(first)) != 0 && text[at + 1] == ':' &&
        (text[at + 2] == '\\' || text[at + 2] == '/') && text.substr(at + 2, 2) != "//";
    if (!unix_path && !windows_path) continue;
    std::size_t end = at;
    while (end < text.size() &&
           std::string_view(" \"',;)]").find(text[end]) == std::string_view::npos) {
      ++end;
    }
    return text.substr(at, end - at);
  }
  return {};
}

}  // namespace opseal
