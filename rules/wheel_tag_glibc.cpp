#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/cxx_versions.h"
#include "rules/glibc_versions.h"

namespace opseal {

namespace {

constexpr std::size_t most_shown = 4;

// Points at what some libraries ask for, the worst first. Needs: at least one.
template <typename Need>
void add_finding(Sink& sink, const Fact& distribution, const GlibcPromise& promise,
                 const std::vector<Need>& broken, const std::string& needed,
                 const std::string& promised) {
  const auto site = [](const Need& need) {
    return evidence(need.stated, quote(need.library[Key::path].text()) + " asks for " +
                                     quote(need.stated.text()));
  };
  Finding& finding = sink.add("wheel " + std::string(distribution[Key::name].text("(no name)")),
                              plural(broken.size(), "library needs", "libraries need") + ' ' +
                                  needed + ", and the tag " + quote(promise.tag.text()) +
                                  " promises to run with " + promised,
                              site(broken.front()));
  finding.related.push_back(evidence(promise.tag, "promised here"));
  for (std::size_t i = 1; i < std::min(broken.size(), most_shown); ++i)
    finding.related.push_back(site(broken[i]));
}

void tell_glibc(Sink& sink, const Fact& distribution, const GlibcPromise& promise,
                std::vector<GlibcNeed>& broken) {
  if (broken.empty()) return;
  std::stable_sort(broken.begin(), broken.end(),
                   [](const GlibcNeed& a, const GlibcNeed& b) { return a.version > b.version; });
  add_finding(sink, distribution, promise, broken, "glibc " + to_text(broken.front().version),
              to_text(promise.version));
}

void tell_cxx(Sink& sink, const Fact& distribution, const GlibcPromise& promise,
              std::vector<CxxNeed>& broken) {
  if (broken.empty()) return;
  std::stable_sort(broken.begin(), broken.end(), [](const CxxNeed& a, const CxxNeed& b) {
    return a.series != b.series ? a.series > b.series : a.version > b.version;
  });
  const CxxNeed& worst = broken.front();
  add_finding(sink, distribution, promise, broken,
              "a `libstdc++.so.6` with " + quote(worst.stated.text()),
              "one up to " + quote(std::string(worst.series) + std::to_string(worst.allowed)));
}

void check(const Facts& facts, Sink& sink) {
  const bool own_runtime = packs_cxx_runtime(facts);
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const Fact distribution = manifest[Key::distribution];
    const std::optional<GlibcPromise> promise = lowest_glibc_promise(distribution[Key::tags]);
    if (!promise) continue;
    std::vector<GlibcNeed> broken;
    std::vector<CxxNeed> broken_cxx;
    for (const Fact library : manifest[Key::libraries].items()) {
      if (!library[Key::version_needs].is_map()) continue;
      sink.inspected();
      const std::optional<GlibcNeed> need = glibc_need(library);
      if (need && need->version > promise->version) broken.push_back(*need);
      const auto cxx = own_runtime ? std::nullopt : broken_cxx_need(library, promise->version);
      if (cxx) broken_cxx.push_back(*cxx);
    }
    tell_glibc(sink, distribution, *promise, broken);
    tell_cxx(sink, distribution, *promise, broken_cxx);
  }
}

}  // namespace

extern constinit const Rule wheel_tag_glibc{
    .id = "wheel-tag-glibc",
    .title = "library that needs a newer C or C++ library than the wheel's tag promises",
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
