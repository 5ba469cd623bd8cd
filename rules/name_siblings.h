#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// The words of an operator's name: `nufft2_bwd` is `nufft`, `2`, `bwd`.
inline std::vector<std::string_view> name_words(std::string_view name) {
  const auto is_digit = [](char byte) { return byte >= '0' && byte <= '9'; };
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && name[end] != '_' && name[end] != '.' &&
           is_digit(name[end]) == is_digit(name[at])) {
      ++end;
    }
    if (end > at) words.push_back(name.substr(at, end - at));
    at = end == at ? at + 1 : end;
  }
  return words;
}

inline bool is_number(std::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char byte) { return byte >= '0' && byte <= '9'; });
}

// `fwd` for `bwd`, `1` for `2`.
inline bool are_counterparts(std::string_view a, std::string_view b) {
  constexpr std::array<std::array<std::string_view, 2>, 4> pairs{
      {{"fwd", "bwd"}, {"forward", "backward"}, {"fw", "bw"}, {"lower", "upper"}}};
  if (is_number(a) && is_number(b)) return true;
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
    return (pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a);
  });
}

inline bool is_direction(std::string_view word) {
  constexpr std::array<std::string_view, 6> words{"backward", "bwd",       "grad",
                                                  "jvp",      "transpose", "vjp"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Two names that say that they are of one family: counterparts, or one with a further word.
// `any_word`: which may be any, else one that says which way the other is gone.
inline bool are_siblings(std::string_view first, std::string_view second, bool any_word) {
  // Longer ones are no names.
  if (first.size() > 128 || second.size() > 128 || first == second) return false;
  std::vector<std::string_view> less = name_words(first);
  std::vector<std::string_view> more = name_words(second);
  if (less.size() > more.size()) std::swap(less, more);
  std::size_t at = 0;
  while (at < less.size() && less[at] == more[at]) ++at;
  if (less.size() == more.size()) {
    if (less.size() < 2 || at == less.size() || !are_counterparts(less[at], more[at])) return false;
    return std::equal(less.begin() + static_cast<std::ptrdiff_t>(at) + 1, less.end(),
                      more.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  if (more.size() != less.size() + 1 || less.empty()) return false;
  if (!any_word && !is_direction(more[at])) return false;
  return std::equal(less.begin() + static_cast<std::ptrdiff_t>(at), less.end(),
                    more.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

}  // namespace opseal
