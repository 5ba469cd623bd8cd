#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/drift.h"

namespace opseal {

static bool two_pythons(const Fact& before, const Fact& after) {
  return compare_releases(before, after) == Release::same && !python_minor(before).empty() &&
         !python_minor(after).empty() && python_minor(before) != python_minor(after);
}

static void check(const Facts& facts, Sink& sink) {
  // Content ids differ too where they are made from bytecode, so they can't tell what is the same.
  const Drifts drifts = find_drifts(facts, two_pythons, false);
  sink.inspected(drifts.inspected);
  for (const Drift& drift : drifts.found) {
    const Fact now = drift.after.item[Key::name];
    const Fact then = drift.before.item[Key::name];
    Finding& finding = sink.add(
        std::string(then.text()),
        std::string(noun_of(drift)) + " is named " + quote(now.text()) + " under Python " +
            std::string(python_minor(drift.after.manifest)) + ", expected " + quote(then.text()) +
            " as under Python " + std::string(python_minor(drift.before.manifest)),
        evidence(now, "named here"));
    finding.related.push_back(evidence(then, "named here under the other Python"));
    finding.related.push_back(evidence(drift.same, "the same in both dumps"));
  }
}

extern constinit const Rule python_version_name{
    .id = "python-version-name",
    .title = "name differs between interpreters of the same release",
    .rationale =
        "A name that is made from bytecode changes with each minor version of Python, although the "
        "code is the same. What one interpreter exported or cached is not found by the next: "
        "stored "
        "programs fail to load, and every kernel is built again.",
    .example =
        R"({"before": {"opseal_manifest": 1, "producer": {"packages": {"p": "1"}, "python": "3.11.7"}, "targets": [{"name": "call_1f", "symbol": "f"}]}, "after": {"opseal_manifest": 1, "producer": {"packages": {"p": "1"}, "python": "3.12.1"}, "targets": [{"name": "call_2f", "symbol": "f"}]}})",
    .fix = "make the name from the source text or from the signature, not from bytecode",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .two_dumps = true,
    .inspects = "target or operator that dumps of one release from two Pythons have once each",
    .check = check,
};

}  // namespace opseal
