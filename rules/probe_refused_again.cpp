#include "rules/probe_facts.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!is_ended_call(probe) || probe[Key::status].is("refused") || is_undeclared(probe)) return;
    sink.inspected();
    for_each_deviation(probe, "refused_again", [&](const Fact& deviation, const std::string&) {
      findings.add(probe, "refused",
                   kernel_text(probe) + " serves a call " + call_text(probe) +
                       " and refuses another one with equal arguments in the same process: " +
                       std::string(deviation[Key::seen].text("no reason")),
                   Severity::error);
    });
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_refused_again{
    .id = "probe-refused-again",
    .title = "kernel serves a call once and refuses it the next time",
    .rationale =
        "A test calls once. What a kernel takes on its first call and never gives back, a slot of "
        "a table, a handle, a flag that says it was set up, is gone on the second one, and a "
        "training run fails after its first step.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "differs", "declared": true, "deviations": [{"kind": )"
        R"("refused_again", "name": "call", "seen": "no free slot"}]}]})",
    .fix = "give back what a call takes, or keep it for the next one",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "declared call that was served",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
