#include <cstdint>
#include <string>
#include <unordered_set>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/artifacts.h"
#include "rules/kernel_key.h"

namespace opseal {

namespace {

// Builds of one library for several machines, of which each machine has one.
class Variants {
 public:
  void add(const Fact& manifest, const Fact& library) {
    if (const std::uint64_t key = key_of(manifest, library); key != 0) there_.insert(key);
  }
  bool has(const Fact& manifest, const Fact& library) const {
    return there_.contains(key_of(manifest, library));
  }

 private:
  static std::uint64_t key_of(const Fact& manifest, const Fact& library) {
    const Fact functions = library[Key::functions];
    if (!functions.is_list() || functions.size() == 0) return 0;
    return hash_of(functions) * 31 + manifest.index();
  }

  std::unordered_set<std::uint64_t> there_;
};

void check(const Facts& facts, Sink& sink) {
  const Artifacts artifacts(facts);
  Variants variants;
  artifacts.for_each_library(
      facts, [&](const Fact& manifest, const Fact& library, const Fact& found, const Fact&) {
        if (found.truth()) variants.add(manifest, library);
      });
  artifacts.for_each_library(
      facts, [&](const Fact& manifest, const Fact& library, const Fact& found, const Fact&) {
        const Fact path = library[Key::path];
        if (!found.is_truth() || !path.is_text()) return;
        sink.inspected();
        if (found.truth() || variants.has(manifest, library)) return;
        Finding& finding =
            sink.add("library " + std::string(path.text()), "no file at " + quote(path.text()),
                     evidence(path, "library named here"));
        if (library[Key::found].said()) {
          finding.related.push_back(evidence(library[Key::found], "said to be missing here"));
        }
      });
}

}  // namespace

extern constinit const Rule artifact_missing{
    .id = "artifact-missing",
    .title = "registered library that is not there",
    .rationale =
        "A registration by path is only a name until something is called. If the file was never "
        "built, was cleaned away or left out of the package, the registration still succeeds, and "
        "the first call fails to load it, on the user's machine.",
    .example = R"({"path": "lib/libops.so", "found": false})",
    .fix = "build or package the library, or take its registration out",
    .severity = Severity::error,
    .inspects = "library that says `found`, or whose path can be looked up beside its manifest",
    .needs = {Key::libraries, Key::path},
    .check = check,
};

}  // namespace opseal
