#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!has_verdict(probe) || probe[Key::kind].is("threads")) return;
    if (is_undeclared(probe)) return;
    sink.inspected();
    if (!has_no_end(probe)) return;
    // What ended it is known better.
    for (const Fact deviation : probe[Key::deviations].items()) {
      if (deviation[Key::kind].is("out_of_bounds")) return;
    }
    std::string asked = " in a call " + call_text(probe);
    if (probe[Key::kind].is("metadata")) asked = " when it is asked for its metadata";
    if (probe[Key::kind].is("signature"))
      asked = " when it is called with wrong counts and kinds of operands, which it has to refuse";
    if (probe[Key::kind].is("library")) {
      findings.add(probe, "library",
                   "a call of " + quote(probe[Key::library].text("a library")) +
                       " leaves something behind that ends the process: " +
                       std::string(probe[Key::reason].text("no answer")),
                   Severity::error);
      return;
    }
    const bool hangs = probe[Key::status].is("timed_out");
    // Derivatives are calls, too.
    const bool derivative = probe[Key::kind].is("jvp") || probe[Key::kind].is("transpose");
    findings.add(probe, derivative ? "call" : std::string(probe[Key::kind].text()),
                 kernel_text(probe) + (hangs ? " hangs" : " ends the process") + asked + ": " +
                     std::string(probe[Key::reason].text("no answer")),
                 Severity::error);
  });
  findings.tell();
  for_each_framework_row(facts, [&sink](const Fact& row) {
    if (!has_verdict(row)) return;
    sink.inspected();
    // One that has no end may be slow on a busy machine.
    if (!row[Key::status].is("crashed")) return;
    sink.add(framework_subject(row),
             framework_text(row) + " ends the process in the check " +
                 quote(row[Key::name].text()) + ": " +
                 std::string(row[Key::reason].text("no answer")),
             framework_evidence(row));
  });
  for_each_operator_row(facts, [&sink](const Fact& row) {
    if (!has_verdict(row)) return;
    sink.inspected();
    if (!row[Key::status].is("crashed")) return;
    std::string message = quote(row[Key::operator_].text()) + ", called by " + framework_text(row) +
                          ", ends the process: " + std::string(row[Key::reason].text("no answer"));
    if (row[Key::arguments].is_list()) message += "; in a call " + call_text(row);
    sink.add(std::string(row[Key::operator_].text()), std::move(message), framework_evidence(row));
  });
}

}  // namespace

extern constinit const Rule probe_crash{
    .id = "probe-crash",
    .title = "kernel ends or hangs the process",
    .rationale =
        "A call that the declaration allows ends the process, or doesn't end. In a server "
        "this takes every other request with it, and for an extent of 0 or an odd one it "
        "waits for the first such request. A handler that can't bear the framework's own "
        "questions can't be registered.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "crashed", "reason": "ended by SIGFPE", "declared": true}]})",
    .fix = "refuse what the kernel can't do with an error, and serve what is declared",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "probe of a kernel or of a framework",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
