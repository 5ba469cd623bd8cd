#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/glibc_versions.h"

namespace opseal {

namespace {

void check(const Facts& facts, Sink& sink) {
  constexpr std::size_t most_shown = 4;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const Fact distribution = manifest[Key::distribution];
    const std::optional<GlibcPromise> promise = lowest_glibc_promise(distribution[Key::tags]);
    if (!promise) continue;
    std::vector<GlibcNeed> broken;
    for (const Fact library : manifest[Key::libraries].items()) {
      if (!library[Key::version_needs].is_map()) continue;
      sink.inspected();
      const std::optional<GlibcNeed> need = glibc_need(library);
      if (need && need->version > promise->version) broken.push_back(*need);
    }
    if (broken.empty()) continue;
    std::stable_sort(broken.begin(), broken.end(),
                     [](const GlibcNeed& a, const GlibcNeed& b) { return a.version > b.version; });
    const GlibcNeed& worst = broken.front();
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
