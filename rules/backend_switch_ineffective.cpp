#include "rules/framework_rows.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"backend-switch",
     "after the default backend was changed, a call runs the kernel of the old one"},
    {"backend-switch-global",
     "the backend that is set for all operators does not decide which kernels run"},
    {"backend-per-call", "a backend that is named in the call does not decide which kernel runs"},
};

void check(const Facts& facts, Sink& sink) { judge_framework_rows(facts, faults, sink); }

}  // namespace

extern constinit const Rule backend_switch_ineffective{
    .id = "backend-switch-ineffective",
    .title = "backend that is selected is not the one that runs",
    .rationale =
        "A framework keeps a table of the backend that each operator is to use. If calls go "
        "on by caches that were made before the table changed, it says one thing and runs "
        "another: a comparison of two backends compares one with itself, and a fallback that "
        "was switched on never serves. The probe registers two kernels that each write a "
        "number of their own, calls, switches, and calls again.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "engine", "name": "backend-switch", "status": "differs", "expected": "202.0", "seen": "101.0"}]})",
    .fix =
        "upgrade to a release that drops compiled calls when a backend is switched; until then "
        "switch before the first call, or clear the caches of JAX afterwards",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "check of a framework that was made",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
