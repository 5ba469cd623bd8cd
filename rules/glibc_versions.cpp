#include "rules/glibc_versions.h"

#include "rules/platform_tag.h"

namespace opseal {
namespace {

// `2.17`, `2.2.5`.
std::optional<GlibcVersion> read_version(std::string_view text) {
  const std::optional<unsigned> major = take_number(text);
  if (!major || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  const std::optional<unsigned> minor = take_number(text);
  if (!minor) return std::nullopt;
  return GlibcVersion{*major, *minor};
}

}  // namespace

std::string to_text(GlibcVersion version) {
  return std::to_string(version.major) + '.' + std::to_string(version.minor);
}

std::optional<GlibcPromise> lowest_glibc_promise(const Fact& tags) {
  std::optional<GlibcPromise> lowest;
  for (const Fact tag : tags.items()) {
    const std::string_view text = tag.text();
    const std::size_t behind = text.rfind('-');
    if (behind == text.npos) continue;
    // Other systems, other C libraries, and `linux_x86_64` promise nothing.
    const std::optional<PlatformTag> platform = read_platform_tag(text.substr(behind + 1));
    if (!platform || platform->family != "manylinux_") continue;
    const GlibcVersion version{platform->major_version, platform->minor_version};
    if (!lowest || version < lowest->version) lowest = GlibcPromise{version, tag};
  }
  return lowest;
}

std::optional<GlibcNeed> glibc_need(const Fact& library) {
  constexpr std::string_view prefix = "GLIBC_";
  std::optional<GlibcNeed> newest;
  for (const auto& [soname, versions] : library[Key::version_needs].entries()) {
    for (const Fact stated : versions.items()) {
      if (!stated.text().starts_with(prefix)) continue;
      std::optional<GlibcVersion> version = read_version(stated.text().substr(prefix.size()));
      // Relative relocations in packed form, which glibc reads since 2.36.
      if (stated.is("GLIBC_ABI_DT_RELR")) version = GlibcVersion{2, 36};
      if (version && (!newest || *version > newest->version)) {
        newest = GlibcNeed{*version, library, stated};
      }
    }
  }
  return newest;
}

}  // namespace opseal
