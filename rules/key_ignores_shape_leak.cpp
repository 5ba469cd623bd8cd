#include "rules/framework_rows.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"targets-per-shape", "calls of one kernel with different shapes register more than one target",
     Severity::warning},
};

void check(const Facts& facts, Sink& sink) { judge_framework_rows(facts, faults, sink); }

}  // namespace

extern constinit const Rule key_ignores_shape_leak{
    .id = "key-ignores-shape-leak",
    .title = "one kernel is registered again for each shape that it is called with",
    .rationale =
        "Registrations of a process stay to its end. If each new shape of a call makes one "
        "more, a server with varying shapes grows without bound: memory, names, and "
        "compilation caches that never hit. The probe calls one kernel, which does not depend "
        "on shapes, with ten of them and counts the targets.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "engine", "name": "targets-per-shape", "status": "differs", "expected": "1 target for 10 shapes", "seen": "10 targets"}]})",
    .fix =
        "make the key of a registration of what its code depends on (the kernel and the dtypes), "
        "and read shapes from the call",
    .severity = Severity::warning,
    .tier = Tier::probe,
    .inspects = "check of a framework that was made",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
