#include "rules/framework_rows.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"rebuild-same-target",
     "a library that was built anew at its path is registered again without an error, and its code "
     "does not run"},
    {"two-sources-one-target",
     "a second source is taken under a target that a first one has, and its code does not run"},
};

void check(const Facts& facts, Sink& sink) { judge_framework_rows(facts, faults, sink); }

}  // namespace

extern constinit const Rule rebuild_stale_dispatch{
    .id = "rebuild-stale-dispatch",
    .title = "library that was built anew is registered, and the old code runs",
    .rationale =
        "A kernel is edited, built anew and registered again under its target. If the "
        "registration is taken without an error while the old handler stays, the edit seems "
        "to have no effect: a mended kernel is measured as broken, a broken one as sound, "
        "until the process starts anew. The probe builds two libraries that write different "
        "numbers, puts one in the place of the other and calls.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "engine", "name": "rebuild-same-target", "status": "differs", "expected": "an error, or 303.0", "seen": "accepted, and the call still gives 101.0"}]})",
    .fix =
        "refuse a target whose library has another content, or call the new one; until then start "
        "a new process after a rebuild, or register under a new name",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "check of a framework that was made",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
