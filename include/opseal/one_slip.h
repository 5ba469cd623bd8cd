#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace opseal {

// One typing error apart: a letter more, less or another one, or two neighbours swapped. Digits are
// no slips: `conv1d` and `conv2d` are two names.
inline bool one_slip_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1 || a == b) return false;
  const auto is_digit = [](char byte) { return byte >= '0' && byte <= '9'; };
  std::size_t at = 0;
  while (at < a.size() && a[at] == b[at]) ++at;
  if (a.size() < b.size()) return !is_digit(b[at]) && a.substr(at) == b.substr(at + 1);
  if (is_digit(a[at]) || is_digit(b[at])) return false;
  if (a.substr(at + 1) == b.substr(at + 1)) return true;
  return at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] &&
         a.substr(at + 2) == b.substr(at + 2);
}

}  // namespace opseal
