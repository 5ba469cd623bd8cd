#include "rules/hollow_bodies.h"

namespace opseal {
namespace {

static_assert(most_of_nothing == 8, "the rationale says it");

void check(const Facts& facts, Sink& sink) {
  check_hollow_bodies(facts, sink, HollowEvidence::weak);
}

}  // namespace

extern constinit const Rule arch_hollow_possible{
    .id = "arch-hollow-possible",
    .title = "kernel whose body does nothing on some architectures, if the host launches it there",
    .rationale =
        "Device code under an architecture guard without an `#else` compiles to an empty body "
        "outside the guard: the launch succeeds and computes nothing. This rule tells what "
        "`arch-hollow-body` leaves aside because much correct code looks the same: a host that "
        "tests for the device before it launches never runs the empty body, and bytes don't show "
        "that test. A body counts as empty that has at most 8 instructions (no-ops and branches "
        "aside), no store and no trap, where the same kernel stores on another architecture. It is "
        "a note where all code that stores is newer. A stated fleet (`--arch`) that has the device "
        "settles it: `arch-hollow-body` warns then.",
    .example = R"({"path": "libops.so", "images": [
  {"container": 0, "kind": "sass", "architecture": "sm_80", "kernels": [{"name": "k", "writes": true}]},
  {"container": 0, "kind": "sass", "architecture": "sm_90", "kernels": [{"name": "k", "instructions": 2, "writes": false, "traps": false}]}]})",
    .fix = "state the fleet, and let the other branch of the guard trap",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .tier = Tier::bytes,
    .inspects = "kernel with bodies for several architectures that could be judged",
    .needs = {Key::libraries, Key::path, Key::images, Key::writes},
    .check = check,
};

}  // namespace opseal
