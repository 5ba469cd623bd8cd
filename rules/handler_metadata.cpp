#include "rules/probe_facts.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!probe[Key::kind].is("metadata") || !has_verdict(probe) || has_no_end(probe)) return;
    sink.inspected();
    if (probe[Key::status].is("refused")) {
      findings.add(probe, "refused",
                   kernel_text(probe) + " doesn't answer when it is asked for its metadata: " +
                       std::string(probe[Key::reason].text("no reason")),
                   Severity::warning);
    }
    for (const Fact deviation : probe[Key::deviations].items()) {
      if (!deviation[Key::kind].is("traits")) continue;
      findings.add(probe, std::string(deviation[Key::name].text()),
                   kernel_text(probe) + " says of " +
                       std::string(deviation[Key::name].text("itself")) + ": " +
                       std::string(deviation[Key::seen].text("?")) +
                       ", expected as declared: " + std::string(deviation[Key::expected].text("?")),
                   Severity::warning);
    }
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule handler_metadata{
    .id = "handler-metadata",
    .title = "handler doesn't answer the metadata handshake, or answers otherwise than declared",
    .rationale =
        "A framework asks each handler for the version of the interface that it was built "
        "with and whether it may be recorded into a command buffer. A handler that doesn't "
        "answer is refused when it is registered, or taken for something older; one that is "
        "declared to be recordable and isn't runs beside the recording.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "metadata", "symbol": "Scale", "status": )"
        R"("differs", "deviations": [{"kind": "traits", "name": "command buffer", "expected": )"
        R"("compatible", "seen": "not compatible"}]}]})",
    .fix = "build the handler with the headers of a released jaxlib, and declare the traits it has",
    .severity = Severity::warning,
    .tier = Tier::probe,
    .inspects = "handler that was asked for its metadata",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
