#pragma once

#include <string>
#include <string_view>

namespace opseal {

// The two forms of `std::string` in libstdc++, which show in the mangled names of what takes or
// returns one (Itanium C++ ABI; GCC's `abi_tag` and inline namespace `__cxx11`). A library built
// with one form doesn't find the functions of a library built with the other.

// The form of GCC 5 and later.
inline bool has_new_string(std::string_view symbol) {
  return symbol.find("__cxx11") != symbol.npos || symbol.find("B5cxx11") != symbol.npos;
}

// The old form: `Ss` among the parameters, which begin behind the name.
inline bool has_old_string(std::string_view symbol) {
  if (has_new_string(symbol) || !symbol.starts_with("_Z")) return false;
  return symbol.ends_with("Ss") || symbol.find("RKSs") != symbol.npos ||
         symbol.find("ESs") != symbol.npos;
}

// A symbol of torch's C++ interface: of namespace `c10`, `at` or `torch`.
inline bool is_torch_symbol(std::string_view symbol) {
  for (const std::string_view begin :
       {"_ZN3c10", "_ZNK3c10", "_ZN2at", "_ZNK2at", "_ZN5torch", "_ZNK5torch"}) {
    if (symbol.starts_with(begin)) return true;
  }
  return false;
}

// The mangled name of the function itself, without parameters and without marks of the form of
// strings: equal for `_ZN3lib4nameB5cxx11Ev` and `_ZN3lib4nameEv`. Empty where it isn't a plain
// nested or free function.
inline std::string function_part(std::string_view symbol) {
  std::string part;
  if (!symbol.starts_with("_Z")) return part;
  std::size_t at = 2;
  const bool nested = at < symbol.size() && symbol[at] == 'N';
  if (nested) {
    ++at;
    while (at < symbol.size() && (symbol[at] == 'K' || symbol[at] == 'V')) part += symbol[at++];
  }
  while (at < symbol.size()) {
    if (symbol[at] == 'B') {
      // A tag: `B5cxx11`.
      ++at;
    } else if (symbol[at] < '0' || symbol[at] > '9') {
      break;
    } else {
      part += '/';
    }
    std::size_t length = 0;
    while (at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9' && length < 4096) {
      length = length * 10 + static_cast<std::size_t>(symbol[at++] - '0');
    }
    if (length == 0 || length > symbol.size() - at) return {};
    if (part.ends_with('/')) part += symbol.substr(at, length);
    at += length;
  }
  // Constructors, destructors.
  if (nested && at + 1 < symbol.size() && (symbol[at] == 'C' || symbol[at] == 'D')) {
    part += symbol.substr(at, 2);
    at += 2;
  }
  const bool ended = !nested || (at < symbol.size() && symbol[at] == 'E');
  return ended && !part.empty() ? part : std::string();
}

}  // namespace opseal
