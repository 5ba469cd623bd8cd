#include <algorithm>
#include <charconv>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

namespace {

struct GlibcVersion {
  unsigned major = 0;
  unsigned minor = 0;

  friend auto operator<=>(const GlibcVersion&, const GlibcVersion&) = default;
};

std::string to_text(GlibcVersion version) {
  return std::to_string(version.major) + '.' + std::to_string(version.minor);
}

// The number in front of `text`, which it is taken from.
std::optional<unsigned> take_number(std::string_view& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// `2.17`, `2_17_x86_64`, `2.2.5`.
std::optional<GlibcVersion> take_version(std::string_view text, char separator) {
  const std::optional<unsigned> major = take_number(text);
  if (!major || !text.starts_with(separator)) return std::nullopt;
  text.remove_prefix(1);
  const std::optional<unsigned> minor = take_number(text);
  if (!minor) return std::nullopt;
  return GlibcVersion{*major, *minor};
}

// What a platform tag promises to run on (PEP 600, and the names before it). Nothing for other
// systems, other C libraries, and `linux_x86_64`, which promises nothing.
std::optional<GlibcVersion> promise_of(std::string_view platform) {
  constexpr std::string_view perennial = "manylinux_";
  if (platform.starts_with(perennial)) return take_version(platform.substr(perennial.size()), '_');
  if (platform.starts_with("manylinux1_")) return GlibcVersion{2, 5};
  if (platform.starts_with("manylinux2010_")) return GlibcVersion{2, 12};
  if (platform.starts_with("manylinux2014_")) return GlibcVersion{2, 17};
  return std::nullopt;
}

struct Promise {
  GlibcVersion version;
  Fact tag;
};

// The oldest system among all that the tags name.
std::optional<Promise> lowest_promise(const Fact& tags) {
  std::optional<Promise> lowest;
  for (const Fact tag : tags.items()) {
    const std::string_view text = tag.text();
    const std::size_t behind = text.rfind('-');
    if (behind == text.npos) continue;
    const std::optional<GlibcVersion> version = promise_of(text.substr(behind + 1));
    if (version && (!lowest || *version < lowest->version)) lowest = Promise{*version, tag};
  }
  return lowest;
}

struct Need {
  GlibcVersion version;
  Fact library;
  // The symbol version that asks for it.
  Fact stated;
};

// The newest system that a library asks for, by its versions `GLIBC_2.N`.
std::optional<Need> need_of(const Fact& library) {
  constexpr std::string_view prefix = "GLIBC_";
  std::optional<Need> newest;
  for (const auto& [soname, versions] : library[Key::version_needs].entries()) {
    for (const Fact stated : versions.items()) {
      if (!stated.text().starts_with(prefix)) continue;
      std::optional<GlibcVersion> version = take_version(stated.text().substr(prefix.size()), '.');
      // Relative relocations in packed form, which glibc reads since 2.36.
      if (stated.is("GLIBC_ABI_DT_RELR")) version = GlibcVersion{2, 36};
      if (version && (!newest || *version > newest->version)) {
        newest = Need{*version, library, stated};
      }
    }
  }
  return newest;
}

void check(const Facts& facts, Sink& sink) {
  constexpr std::size_t most_shown = 4;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const Fact distribution = manifest[Key::distribution];
    const std::optional<Promise> promise = lowest_promise(distribution[Key::tags]);
    if (!promise) continue;
    std::vector<Need> broken;
    for (const Fact library : manifest[Key::libraries].items()) {
      if (!library[Key::version_needs].is_map()) continue;
      sink.inspected();
      const std::optional<Need> need = need_of(library);
      if (need && need->version > promise->version) broken.push_back(*need);
    }
    if (broken.empty()) continue;
    std::stable_sort(broken.begin(), broken.end(),
                     [](const Need& a, const Need& b) { return a.version > b.version; });
    const Need& worst = broken.front();
    Finding& finding =
        sink.add("wheel " + std::string(distribution[Key::name].text("(no name)")),
                 plural(broken.size(), "library needs", "libraries need") + " glibc " +
                     to_text(worst.version) + ", and the tag " + quote(promise->tag.text()) +
                     " promises to run with " + to_text(promise->version),
                 evidence(worst.stated, quote(worst.library[Key::path].text()) + " asks for " +
                                            quote(worst.stated.text())));
    finding.related.push_back(evidence(promise->tag, "promised here"));
    for (std::size_t i = 1; i < std::min(broken.size(), most_shown); ++i) {
      finding.related.push_back(
          evidence(broken[i].stated, quote(broken[i].library[Key::path].text()) + " asks for " +
                                         quote(broken[i].stated.text())));
    }
  }
}

}  // namespace

extern constinit const Rule wheel_tag_glibc{
    .id = "wheel-tag-glibc",
    .title = "library that needs a newer C library than the wheel's tag promises",
    .rationale =
        "The platform tag of a wheel says on which systems installers may put it, and nobody looks "
        "again. A library that was built on a newer system asks for symbol versions that older "
        "ones don't have: the wheel installs there without a word, and loading the library fails.",
    .example =
        R"({"opseal_manifest": 1,
 "distribution": {"kind": "wheel", "tags": ["cp311-cp311-manylinux2014_x86_64"]},
 "libraries": [{"path": "_ops.so", "version_needs": {"libc.so.6": ["GLIBC_2.27"]}}]})",
    .fix = "build in the image of the platform tag, or tag the wheel with what its libraries need",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "library with known symbol versions, in a wheel with a `manylinux` tag",
    .needs = {Key::distribution, Key::tags, Key::version_needs},
    .check = check,
};

}  // namespace opseal
