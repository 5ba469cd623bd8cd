#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"transpose", "has a reverse mode that is not the transpose of its forward mode"},
    {"gradient", "has a gradient that is not its derivative"},
};

void check(const Facts& facts, Sink& sink) {
  judge_operator_rows(facts, faults, sink);
  judge_derivatives(facts, "transpose", "computes a gradient that is not the derivative", sink);
}

}  // namespace

extern constinit const Rule transpose_numeric{
    .id = "transpose-numeric",
    .title = "gradient is not that of the operator",
    .rationale =
        "Reverse mode runs another rule than forward mode: a transposed index, a missing "
        "sum over a broadcast axis, a conjugate left out. For random v and w, <J v, w> "
        "has to be <v, Jt w>; where a framework has no forward mode, J v is the "
        "difference of two calls.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "jax", "operator": "scan", "input": "x", "name": "transpose", "status": "differs", "expected": "<J v, w> = 0.88", "seen": "<v, Jt w> = 0.75"}]})",
    .fix =
        "mend the backward formula, or the transpose; an input whose gradient is another one on "
        "purpose is `\"differentiable\": false` where the manifest states it",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "input of an operator whose gradient was held against its derivative",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
