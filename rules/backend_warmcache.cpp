#include "rules/framework_rows.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"backend-warmcache",
     "a function that was compiled before the default backend was changed runs the kernel of the "
     "old one"},
};

void check(const Facts& facts, Sink& sink) { judge_framework_rows(facts, faults, sink); }

}  // namespace

extern constinit const Rule backend_warmcache{
    .id = "backend-warmcache",
    .title = "function that was compiled before a switch of backends keeps the old one",
    .rationale =
        "A function that was compiled before another backend was selected holds the kernel of "
        "the old one inside. Fresh calls may follow the switch while this one goes on, so "
        "that one process mixes backends, depending on what ran first. The probe compiles a "
        "call of a kernel that writes a number of its own, switches, and calls the compiled "
        "function again.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "engine", "name": "backend-warmcache", "status": "differs", "expected": "202.0", "seen": "101.0"}]})",
    .fix =
        "upgrade to a release that drops compiled calls when a backend is switched; until then "
        "switch before compiling, or clear the caches of JAX afterwards",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "check of a framework that was made",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
