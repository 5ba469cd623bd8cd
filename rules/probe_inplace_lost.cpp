#include "rules/probe_facts.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!(probe[Key::kind].is("call") && has_verdict(probe) && !has_no_end(probe))) return;
    sink.inspected();
    for (const Fact deviation : probe[Key::deviations].items()) {
      if (!deviation[Key::kind].is("in_place")) continue;
      const std::string name(deviation[Key::name].text("a buffer"));
      findings.add(
          probe, name,
          kernel_text(probe) + " is declared to write " + name +
              ", whose bytes two calls with different values left as they were; in a call " +
              call_text(probe),
          Severity::warning);
    }
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_inplace_lost{
    .id = "probe-inplace-lost",
    .title = "kernel leaves an argument alone that it is declared to write",
    .rationale =
        "The caller reads its own buffer afterwards and finds what it put there: the update "
        "went into a copy. Nothing fails, and a state never moves.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "differs", "deviations": [{"kind": "in_place", "name": "argument )"
        R"(0"}]}]})",
    .fix = "write into the buffer that was handed over, or declare the argument as read",
    .severity = Severity::warning,
    .tier = Tier::probe,
    .inspects = "call of a kernel that came back",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
