#include <string>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/artifacts.h"

namespace opseal {
namespace {

std::string_view kind_of(std::string_view digest) { return digest.substr(0, digest.find(':')); }

// Two digests of one kind and length; a shortened one or another kind says nothing.
bool comparable(std::string_view a, std::string_view b) {
  return a.size() == b.size() && a.find(':') != a.npos && kind_of(a) == kind_of(b);
}

void check(const Facts& facts, Sink& sink) {
  const Artifacts artifacts(facts);
  artifacts.for_each_library(facts, [&sink](const Fact&, const Fact& library, const Fact& found,
                                            const Fact& found_digest) {
    const Fact path = library[Key::path];
    const Fact digest = library[Key::digest];
    if (!path.is_text() || !digest.is_text() || !found_digest.is_text()) return;
    if (found.is_truth() && !found.truth()) return;
    if (!comparable(digest.text(), found_digest.text())) return;
    sink.inspected();
    if (lower(digest.text()) == lower(found_digest.text())) return;
    Finding& finding = sink.add("library " + std::string(path.text()),
                                "file has the digest " + quote(found_digest.text()) +
                                    ", registered was " + quote(digest.text()),
                                evidence(digest, "digest at registration"));
    // Building one recipe twice seldom gives the same bytes, and the recipe may well be the same.
    if (library[Key::recipe].is_text()) finding.severity = Severity::warning;
    if (library[Key::found_digest].said()) {
      finding.related.push_back(evidence(found_digest, "digest of the file"));
    } else {
      finding.related.push_back(evidence(path, "file named here"));
    }
  });
}

}  // namespace

extern constinit const Rule artifact_stale{
    .id = "artifact-stale",
    .title = "library that changed after it was registered",
    .rationale =
        "What was recorded about a library, its functions, its architectures, its measurements, "
        "holds for the bytes that were there. If the file was built again since, calls run other "
        "code than what was registered and audited, and a process that still has the old one "
        "loaded "
        "runs something else than one that starts now.",
    .example = R"({"path": "lib/libops.so", "digest": "sha256:00", "found_digest": "sha256:ff"})",
    .fix = "register the library again, and start the processes that use it anew",
    .severity = Severity::error,
    .inspects = "library with a recorded digest and a digest of the file that is there",
    .needs = {Key::libraries, Key::path, Key::digest, Key::found_digest},
    .check = check,
};

}  // namespace opseal
