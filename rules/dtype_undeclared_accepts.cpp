#include "rules/probe_facts.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!probe[Key::kind].is("call") || !is_undeclared(probe) || !has_verdict(probe)) return;
    sink.inspected();
    if (probe[Key::status].is("refused")) return;
    std::string message = kernel_text(probe) +
                          (has_no_end(probe) ? " doesn't refuse" : " accepts") +
                          " dtypes that it isn't declared to serve, in a call " + call_text(probe);
    if (has_no_end(probe)) message += ": " + std::string(probe[Key::reason].text("no answer"));
    findings.add(probe, "accepts", message, Severity::warning);
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule dtype_undeclared_accepts{
    .id = "dtype-undeclared-accepts",
    .title = "kernel takes a dtype that it isn't declared to serve",
    .rationale =
        "A kernel that doesn't look at dtypes reads the bits of one as another: integers as "
        "floats, two halves as one number. Nothing fails, and the result is garbage. Where a "
        "caller gets a dtype wrong only this refusal would tell.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "passed", "arguments": [{"dtypes": ["i32"], "shape": [3]}], )"
        R"("declared": false}]})",
    .fix = "bind typed buffers, or look at the dtype and refuse it; or declare it",
    .severity = Severity::warning,
    .tier = Tier::probe,
    .inspects = "call of a kernel with a dtype that isn't declared",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
