#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"overwritten", "makes its results of what their memory held before"},
};

void check(const Facts& facts, Sink& sink) {
  judge_operator_rows(facts, faults, sink);
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!has_compared_results(probe)) return;
    sink.inspected();
    for_each_deviation(probe, "unwritten", [&](const Fact& deviation, const std::string& name) {
      const std::uint32_t elements = deviation[Key::elements].count(1);
      findings.add(probe, name,
                   kernel_text(probe) + " leaves " + plural(elements, "element") + " of " + name +
                       " unwritten, or makes them of what stood there, from element " +
                       std::to_string(static_cast<std::int64_t>(deviation[Key::index].number())) +
                       " on, in a call " + call_text(probe),
                   Severity::error);
    });
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_unwritten{
    .id = "probe-unwritten",
    .title = "kernel leaves a part of its result as it was",
    .rationale =
        "A result's memory is handed over as it is. What a kernel doesn't write is whatever "
        "stood there before: zeros in a fresh process, another tensor's values in a busy "
        "one. The numbers look plausible, and change from run to run.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "differs", "results": [{"dtypes": ["f32"], "shape": [13]}], )"
        R"("deviations": [{"kind": "unwritten", "name": "result 0", "index": 12, "elements": )"
        R"(1}]}]})",
    .fix =
        "write every element of the result, also for extents that are no multiple of a block, and "
        "for 0",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "call that was served",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
