#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rules/glibc_versions.h"

namespace opseal {

// The symbol versions `GLIBCXX_3.4.N` and `CXXABI_1.3.N` of the C++ runtime, of which N counts.
struct CxxNeed {
  // `GLIBCXX_3.4.` or `CXXABI_1.3.`.
  std::string_view series;
  unsigned version = 0;
  // The newest that the platform tag allows.
  unsigned allowed = 0;
  Fact library;
  // The symbol version.
  Fact stated;
};

// What a library asks of `libstdc++.so.6` that systems with a platform tag need not have: the
// newest of the first series that goes beyond.
std::optional<CxxNeed> broken_cxx_need(const Fact& library, GlibcVersion promised);

// Some library of any input is `libstdc++.so.6` itself, which the loader may take instead of the
// system's.
bool packs_cxx_runtime(const Facts& facts);

}  // namespace opseal
