#include "rules/framework_rows.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"batch",
     "a batched call of a kernel whose elements depend on each other differs from separate calls"},
};

constexpr FrameworkFault operator_faults[] = {
    {"batch", "gives something else for a batch than for separate calls"},
};

void check(const Facts& facts, Sink& sink) {
  judge_framework_rows(facts, faults, sink);
  judge_operator_rows(facts, operator_faults, sink);
}

}  // namespace

extern constinit const Rule batch_mismatch{
    .id = "batch-mismatch",
    .title = "batched call gives something else than separate calls",
    .rationale =
        "Batching transformations promise that a batch is what separate calls give. A kernel "
        "whose elements depend on each other (a running sum, a stencil, a segment) and that "
        "is launched once over a buffer with the whole batch mixes rows or leaves all but the "
        "first unwritten; nothing fails. The probe batches a running sum of fixed extent and "
        "compares each row with a call of its own.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "engine", "name": "batch", "status": "differs", "expected": "as separate calls, or an error", "seen": "row 1: [0.0, 0.0] instead of [4.0, 9.0]"}]})",
    .fix =
        "in the batching rule (`register_vmap`, `custom_vmap`, `primitive_batchers`) heed the axis "
        "of "
        "each operand and launch once for each row, or refuse to be batched",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "check of a framework, or call of an operator by one, that was made",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
