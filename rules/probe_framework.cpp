#include "rules/framework_rows.h"

namespace opseal {
namespace {

constexpr FrameworkFault faults[] = {
    {"jvp-missing-rule",
     "an input without a JVP rule is left out in silence, so that gradients are wrong"},
    {"cache-key-functions",
     "a library that was built for some functions of a source is taken for others of it"},
    {"cache-key-headers",
     "a library is not built anew when a header in an include folder has changed, so that the old "
     "code runs"},
    {"cache-key-environment",
     "a library is not built anew when a header that the environment (`CPATH`) leads to has "
     "changed, so that the old code runs",
     Severity::warning},
    {"cache-key-separation", "different inputs of the cache's key run together into one",
     Severity::warning},
    {"cache-temp-name", "threads that store one entry of the cache disturb each other",
     Severity::warning},
    {"cache-prefix", "clearing one entry of the cache takes others whose names begin alike",
     Severity::warning},
    {"callback-ownership",
     "nothing keeps a registered callback alive, so that a call may run freed memory"},
    {"name-stability",
     "a kernel has another name when kernels are made in another order, so that what was exported "
     "calls another one"},
    {"name-registered-twice", "a second operator takes the name of a first one in silence",
     Severity::warning},
    {"dtype-codes",
     "operands of types that the framework does not know are read as if they had another one"},
};

void check(const Facts& facts, Sink& sink) { judge_framework_rows(facts, faults, sink); }

}  // namespace

extern constinit const Rule probe_framework{
    .id = "probe-framework",
    .title = "framework does not keep a promise that its users build on",
    .rationale =
        "These checks ask a framework itself what it does where its sources, its libraries "
        "and its registries can't tell: whether a changed header makes a new library, who "
        "keeps a callback alive, whether a missing gradient rule is an error. `opseal probe "
        "--framework` makes each in a process and with caches of its own; the report lists "
        "every check with what was expected and what was seen.",
    .example =
        R"({"opseal_manifest": 1, "probes": [{"kind": "framework", "system": "engine", "name": "callback-ownership", "status": "differs", "expected": "kept as long as the target is registered", "seen": "collected, while XLA holds its address"}]})",
    .fix = "upgrade to a release in which the check passes, or keep away from what it describes",
    .severity = Severity::error,
    .tier = Tier::probe,
    .inspects = "check of a framework that was made",
    .needs = {Key::probes},
    .check = check,
};

}  // namespace opseal
