#include "rules/probe_facts.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    // Others were held against nothing.
    if (!is_ended_call(probe) || !probe[Key::counterpart].is_text()) return;
    if (probe[Key::method].is("alike")) return;
    sink.inspected();
    for_each_deviation(probe, "value", [&](const Fact& deviation, const std::string& name) {
      findings.add(probe, name, value_text(probe, deviation, name, "expected", "the reference's"),
                   Severity::error);
    });
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_ulp{
    .id = "probe-ulp",
    .title = "kernel is further off than it declares",
    .rationale =
        "A stated bound is what others build on: a tolerance of a test, a choice between kernels. "
        "The same numbers were handed to this kernel and to another call of the same operator, its "
        "own with 64-bit numbers or an alternative, and the distance is larger than what the two "
        "state together.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "differs", "counterpart": "a", "deviations": [{"kind": "value", "name": "result 0", )"
        R"("index": 3, "elements": 1, "expected": "within 1 ulp of 0.5", "seen": "0.500003, 50 )"
        R"(ulp off"}]}]})",
    .fix = "mend the kernel, or state the bound that it keeps",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "call whose values were held against those of another",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
