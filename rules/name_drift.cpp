#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/drift.h"

namespace opseal {

static bool one_release(const Fact& before, const Fact& after) {
  return compare_releases(before, after) == Release::same &&
         python_minor(before) == python_minor(after);
}

static void check(const Facts& facts, Sink& sink) {
  const Drifts drifts = find_drifts(facts, one_release, true);
  sink.inspected(drifts.inspected);
  for (const Drift& drift : drifts.found) {
    const Fact now = drift.after.item[Key::name];
    const Fact then = drift.before.item[Key::name];
    Finding& finding = sink.add(
        std::string(then.text()),
        std::string(noun_of(drift)) + " is named " + quote(now.text()) +
            " in the second dump, expected " + quote(then.text()) + " as in the first, since " +
            (drift.same.key() == Key::location ? "it is registered at the same place"
                                               : "the code behind it is the same"),
        evidence(now, "named here in the second dump"));
    finding.related.push_back(evidence(then, "named here in the first dump"));
    finding.related.push_back(evidence(drift.same, "the same in both dumps"));
  }
}

extern constinit const Rule name_drift{
    .id = "name-drift",
    .title = "one thing has another name in another process of the same release",
    .rationale =
        "A program that was exported or cached holds the names of the targets that it calls. Where "
        "a name comes from a counter, from the order of imports or from an address, another "
        "process "
        "gives it to other code: the stored program then fails to load, or calls a kernel that it "
        "was not made for.",
    .example =
        R"({"before": {"opseal_manifest": 1, "producer": {"packages": {"p": "1"}}, "targets": [{"name": "call_0", "content": "ab"}]}, "after": {"opseal_manifest": 1, "producer": {"packages": {"p": "1"}}, "targets": [{"name": "call_1", "content": "ab"}]}})",
    .fix = "make the name from the content of what it names",
    .severity = Severity::error,
    .two_dumps = true,
    .inspects =
        "target or operator that both dumps of one release have, known by its code or its place",
    .check = check,
};

}  // namespace opseal
