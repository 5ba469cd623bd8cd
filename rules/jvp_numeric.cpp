#include "rules/framework_rows.h"
#include "rules/probe_facts.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"jvp", "has a JVP that is not its derivative"},
    // A rule may leave something out on purpose, though where nothing stops it that is rare.
    {"jvp-zero", "has a JVP that is 0 along an input that moves its result", Severity::warning},
};

void check(const Facts& facts, Sink& sink) {
  judge_operator_rows(facts, faults, sink);
  judge_derivatives(facts, "jvp", "computes a tangent that is not the derivative", sink);
}

}  // namespace

extern constinit const Rule jvp_numeric{
    .id = "jvp-numeric",
    .title = "JVP rule is not the derivative of its operator",
    .rationale =
        "A JVP that is wrong for one input, or leaves it out, trains a model to something "
        "else: losses still fall, gradients look plausible. The operator is called beside "
        "a point, along one input at a time, and the difference is held against the "
        "tangent that its rule gives. Points without a derivative, and rules for a "
        "function that does not change there (surrogate gradients), are left out.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "jax", "operator": "scan", "input": "y", "name": "jvp", "status": "differs", "expected": "0.553 at element [0] of result 0", "seen": "0"}]})",
    .fix =
        "add what the input contributes to the tangent; an input whose tangent is another one on "
        "purpose is `\"differentiable\": false` where the manifest states it",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "input of an operator whose JVP was held against a difference",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
