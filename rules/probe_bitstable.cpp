#include "rules/probe_facts.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!has_compared_results(probe) || !probe[Key::bit_stable].truth()) return;
    sink.inspected();
    for_each_deviation(probe, "unstable", [&](const Fact& deviation, const std::string& name) {
      findings.add(probe, name,
                   kernel_text(probe) + " gives other bits for equal inputs: " +
                       plural(deviation[Key::elements].count(1), "element") + " of " + name +
                       " differ between two calls " + call_text(probe),
                   Severity::error);
    });
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_bitstable{
    .id = "probe-bitstable",
    .title = "kernel that is declared bit-stable gives other bits for equal inputs",
    .rationale =
        "Who declares equal bits for equal inputs is used where they matter: to compare a "
        "run with its record, to find a regression by bisection, to share one compiled "
        "result. Two calls of this kernel with equal inputs, in one process, gave different "
        "bits.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "differs", "bit_stable": true, "deviations": [{"kind": "unstable", )"
        R"("name": "result 0", "index": 0, "elements": 4}]}]})",
    .fix = "fix the order of the additions, or declare `bit_stable` false",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "call that a kernel served which is declared bit-stable",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
