#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!probe[Key::kind].is("signature") || !has_verdict(probe) || has_no_end(probe) ||
        probe[Key::status].is("refused"))
      return;
    sink.inspected();
    for (const Fact deviation : probe[Key::deviations].items()) {
      const std::string name(deviation[Key::name].text("its signature"));
      if (deviation[Key::kind].is("unrefused")) {
        findings.add(
            probe, "unrefused",
            kernel_text(probe) +
                " runs when it is called with wrong counts of operands, expected a refusal",
            Severity::error);
      }
      if (!deviation[Key::kind].is("signature")) continue;
      findings.add(probe, name,
                   kernel_text(probe) + " takes, as " + name + ", " +
                       std::string(deviation[Key::seen].text("something else")) + ", expected " +
                       std::string(deviation[Key::expected].text("what is declared")),
                   Severity::error);
    }
  });
  findings.tell();
  constexpr FrameworkFault faults[] = {
      {"result", "gives other results than its declaration says"},
  };
  judge_operator_rows(facts, faults, sink);
}

}  // namespace

extern constinit const Rule probe_signature{
    .id = "probe-signature",
    .title = "handler takes something else than it is said to take",
    .rationale =
        "Who calls a handler believes its declaration; the handler itself refuses what it "
        "doesn't bind. The two disagree, so that every call by the declaration is refused, "
        "or means something else.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "signature", "symbol": "Scale", "status": )"
        R"("differs", "deviations": [{"kind": "signature", "name": "attributes", "expected": )"
        R"("`alpha`", "seen": "`factor`"}]}]})",
    .fix = "bring the declaration and the binding of the handler together",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "handler whose signature was recovered",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
