#include "rules/framework_rows.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"etp", "has a rule for eligibility traces that is not the derivative of its implementation"},
};

void check(const Facts& facts, Sink& sink) { judge_operator_rows(facts, faults, sink); }

}  // namespace

extern constinit const Rule etp_xydw_numeric{
    .id = "etp-xydw-numeric",
    .title = "rule for eligibility traces is not the derivative of the operator",
    .rationale =
        "Online learning multiplies a learning signal with what this rule gives for x and "
        "the signal, in place of the derivative that reverse mode would take. A "
        "transposed outer product, or a factor left out, trains to something else; "
        "nothing fails. The rule is held against the vector-Jacobian product of the "
        "implementation.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "jax", "operator": "scan", "name": "etp", "status": "differs", "expected": "0.5 at element [0, 1]", "seen": "0.25"}]})",
    .fix = "let the rule give the derivative with respect to the weight",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "rule of an operator that was held against its implementation",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
