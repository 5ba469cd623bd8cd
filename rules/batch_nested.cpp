#include "rules/framework_rows.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"batch-nested", "a call that is batched twice differs from separate calls"},
};

void check(const Facts& facts, Sink& sink) { judge_framework_rows(facts, faults, sink); }

}  // namespace

extern constinit const Rule batch_nested{
    .id = "batch-nested",
    .title = "call that is batched twice gives something else than separate calls",
    .rationale =
        "Where one more axis is handled, a second one may not be: the kernel runs over part "
        "of the buffer and the rest keeps whatever lay in memory. An error would be right, "
        "wrong numbers are not. The probe batches a running sum twice and compares each row "
        "with a call of its own.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "engine", "name": "batch-nested", "status": "differs", "expected": "as separate calls, or an error", "seen": "row 3: [0.0, 0.0] instead of [12.0, 25.0]"}]})",
    .fix = "flatten the batch axes before the launch, or refuse more than one",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "check of a framework that was made",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
