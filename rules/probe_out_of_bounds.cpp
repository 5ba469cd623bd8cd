#include <algorithm>

#include "rules/probe_facts.h"

namespace opseal {
namespace {

// Of a buffer of a call, by its name in a deviation: `result 0 (y)`.
std::uint64_t elements_of(const Fact& probe, std::string_view name) {
  const Fact side = probe[name.starts_with("result") ? Key::results : Key::arguments];
  std::size_t at = 0;
  std::size_t number = 0;
  for (const char letter : name.substr(std::min(name.find(' ') + 1, name.size()))) {
    if (letter < '0' || letter > '9') break;
    number = number * 10 + static_cast<std::size_t>(letter - '0');
  }
  for (const Fact operand : side.items()) {
    if (at++ != number) continue;
    std::uint64_t elements = 1;
    for (const Fact extent : operand[Key::shape].items()) elements *= extent.count();
    return elements;
  }
  return 0;
}

void check(const Facts& facts, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!probe[Key::kind].is("call") || !has_verdict(probe)) return;
    // A call that nobody declared may go anywhere: that it isn't refused is another rule's finding.
    if (is_undeclared(probe)) return;
    sink.inspected();
    for_each_deviation(probe, "out_of_bounds", [&](const Fact& deviation, const std::string& name) {
      const auto byte = static_cast<std::int64_t>(deviation[Key::index].number());
      const std::string_view seen = deviation[Key::seen].text("written");
      std::string message = kernel_text(probe);
      message += seen == "read" ? " reads" : seen == "written" ? " writes" : " touches";
      message += byte < 0 ? " memory " + plural(static_cast<std::uint64_t>(-byte), "byte") +
                                " before " + name
                          : " memory at byte " + std::to_string(byte) + " of " + name +
                                ", which has " + plural(elements_of(probe, name), "element");
      findings.add(probe, name, message + ", in a call " + call_text(probe), Severity::error);
    });
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_out_of_bounds{
    .id = "probe-out-of-bounds",
    .title = "kernel touches memory beside its buffers",
    .rationale =
        "An element too many is another tensor's memory. In a test it is the allocator's "
        "slack and nothing happens; in a model it is a weight. The probe puts zones of a "
        "known pattern and pages that can't be touched around each buffer.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "differs", "deviations": [{"kind": "out_of_bounds", "name": )"
        R"("result 0", "index": 52, "elements": 1}]}]})",
    .fix = "stay within the extents that the call hands over, in the last block too",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "call of a kernel",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
