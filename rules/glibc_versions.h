#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "opseal/facts.h"

namespace opseal {

struct GlibcVersion {
  unsigned major = 0;
  unsigned minor = 0;

  friend auto operator<=>(const GlibcVersion&, const GlibcVersion&) = default;
};

std::string to_text(GlibcVersion version);

struct GlibcPromise {
  GlibcVersion version;
  Fact tag;
};

// The oldest system among all that the tags of a wheel name. Nothing where none promises anything:
// other systems, other C libraries, and `linux_x86_64`.
std::optional<GlibcPromise> lowest_glibc_promise(const Fact& tags);

struct GlibcNeed {
  GlibcVersion version;
  Fact library;
  // The symbol version that asks for it.
  Fact stated;
};

// The newest system that a library asks for, by its versions `GLIBC_2.N`.
std::optional<GlibcNeed> glibc_need(const Fact& library);

}  // namespace opseal
