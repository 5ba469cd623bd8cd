#include "rules/cxx_versions.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "opseal/paths.h"

namespace opseal {
namespace {

constexpr std::string_view runtime = "libstdc++.so.6";

struct Bound {
  GlibcVersion system;
  // N of `GLIBCXX_3.4.N` and of `CXXABI_1.3.N`.
  unsigned glibcxx;
  unsigned cxxabi;
};

// The newest that the policies of the platform tags allow, from `manylinux-policy.json` of
// auditwheel 6.8.2: where processors differ, the larger one. A tag between two of them is judged by
// the later one, and a tag behind the last by none.
constexpr std::array<Bound, 11> bounds = {{
    {{2, 5}, 8, 1},
    {{2, 12}, 13, 3},
    {{2, 17}, 19, 7},
    {{2, 24}, 22, 10},
    {{2, 28}, 24, 11},
    {{2, 31}, 28, 12},
    {{2, 34}, 29, 13},
    {{2, 38}, 30, 13},
    {{2, 39}, 33, 15},
    {{2, 40}, 33, 15},
    {{2, 41}, 33, 15},
}};

// N of `GLIBCXX_3.4.N`, 0 of `GLIBCXX_3.4`; nothing for other series, such as `CXXABI_TM_1`.
std::optional<unsigned> number_in(std::string_view stated, std::string_view series) {
  if (stated == series.substr(0, series.size() - 1)) return 0;
  if (!stated.starts_with(series)) return std::nullopt;
  unsigned number = 0;
  const char* const end = stated.data() + stated.size();
  const auto [stop, error] = std::from_chars(stated.data() + series.size(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<CxxNeed> broken_cxx_need(const Fact& library, GlibcVersion promised) {
  const auto bound = std::find_if(bounds.begin(), bounds.end(),
                                  [&](const Bound& one) { return !(one.system < promised); });
  if (bound == bounds.end()) return std::nullopt;
  const Fact versions = library[Key::version_needs];
  for (const bool abi : {false, true}) {
    std::optional<CxxNeed> newest;
    const std::string_view series = abi ? "CXXABI_1.3." : "GLIBCXX_3.4.";
    const unsigned allowed = abi ? bound->cxxabi : bound->glibcxx;
    for (const auto& [soname, list] : versions.entries()) {
      if (soname.text() != runtime) continue;
      for (const Fact stated : list.items()) {
        const std::optional<unsigned> number = number_in(stated.text(), series);
        if (!number || *number <= allowed || (newest && *number <= newest->version)) continue;
        newest = CxxNeed{series, *number, allowed, library, stated};
      }
    }
    if (newest) return newest;
  }
  return std::nullopt;
}

bool packs_cxx_runtime(const Facts& facts) {
  const auto is_runtime = [](const Fact& library) {
    if (library[Key::soname].is(runtime)) return true;
    if (file_name_of(library[Key::path].text()) == runtime) return true;
    for (const Fact alias : library[Key::aliases].items()) {
      if (file_name_of(alias.text()) == runtime) return true;
    }
    return false;
  };
  for (const Document& document : facts.documents) {
    for (const Fact library : facts.root(document)[Key::libraries].items()) {
      if (is_runtime(library)) return true;
    }
  }
  return false;
}

}  // namespace opseal
