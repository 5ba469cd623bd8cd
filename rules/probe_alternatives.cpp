#include "rules/probe_facts.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!is_ended_call(probe) || !probe[Key::method].is("alike")) return;
    sink.inspected();
    for_each_deviation(probe, "alternative", [&](const Fact& deviation, const std::string& name) {
      findings.add(probe, name,
                   value_text(probe, deviation, name, "expected about", "the other kernel's"),
                   Severity::warning);
    });
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_alternatives{
    .id = "probe-alternatives",
    .title = "kernels of one operator give different results",
    .rationale =
        "Which of an operator's kernels runs depends on the dtype, the backend, the machine. Given "
        "the same numbers two of them, or one for two widths of dtype, are further apart than half "
        "of their digits: they do not compute the same function, and nobody states that they need "
        "not.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "differs", "counterpart": "a", "method": "alike", "deviations": )"
        R"([{"kind": "alternative", "name": "result 0", "index": 3, "elements": 1, "expected": )"
        R"("0.5, as `a` gives", "seen": "0.25"}]}]})",
    .fix =
        "mend the one that is wrong, or state in `precision` how far the kernel may be off "
        "(`max_relative`, `max_absolute`)",
    .severity = Severity::warning,
    .tier = Tier::probe,
    .inspects = "call whose values were held against those of another, with no bound stated",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
