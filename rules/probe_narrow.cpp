#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"narrow", "gives numbers with half of the digits that their dtype has", Severity::warning},
};

void check(const Facts& facts, Sink& sink) {
  judge_operator_rows(facts, faults, sink);
  ProbeFindings findings(sink);
  for_each_probe(facts, [&](const Fact& probe) {
    if (!has_compared_results(probe) || is_undeclared(probe)) return;
    sink.inspected();
    for_each_deviation(probe, "narrow", [&](const Fact& deviation, const std::string& name) {
      findings.add(probe, name,
                   kernel_text(probe) + " gives numbers with half of their digits in " + name +
                       ": " + std::string(deviation[Key::seen].text("fewer")) + "; expected " +
                       std::string(deviation[Key::expected].text("all")) + "; in a call " +
                       call_text(probe),
                   Severity::warning);
    });
  });
  findings.tell();
}

}  // namespace

extern constinit const Rule probe_narrow{
    .id = "probe-narrow",
    .title = "kernel computes in fewer digits than its dtype has",
    .rationale =
        "Somebody asks for 64 bits because 32 are not enough, and somewhere within the kernel a "
        "`float` holds what is passed on. Shapes, dtypes and most tests are right; what is gone "
        "shows as noise, in gradients by differences, or in a solver that stops early. Handed "
        "numbers with all their digits, the kernel gives some of which every one ends with the "
        "last digit of the narrower dtype. Whole numbers, grids and steps are left out.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "call", "operator": "scale", "symbol": )"
        R"("Scale", "status": "differs", "declared": true, "deviations": [{"kind": "narrow", )"
        R"("name": "result 0", "elements": 3, "expected": "53 binary digits", "seen": "24, as )"
        R"(numbers of single precision have"}]}]})",
    .fix =
        "hold intermediate numbers in the kernel's own dtype, or don't declare the wider one; a "
        "kernel that rounds on purpose can be excepted",
    .severity = Severity::warning,
    .tier = Tier::probe,
    .inspects = "declared call whose results were looked at",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
