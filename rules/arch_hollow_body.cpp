#include "rules/hollow_bodies.h"

namespace opseal {
namespace {

static_assert(most_of_nothing == 8, "the rationale says it");

void check(const Facts& facts, Sink& sink) {
  check_hollow_bodies(facts, sink, HollowEvidence::strong);
}

}  // namespace

extern constinit const Rule arch_hollow_body{
    .id = "arch-hollow-body",
    .title = "kernel whose body does nothing on an architecture of the fleet, or on a newer one",
    .rationale =
        "Device code under an architecture guard without an `#else` compiles to an empty body for "
        "every architecture outside the guard. The kernel is there, the launch succeeds, no error "
        "is raised anywhere, and the output keeps whatever was in memory. It shows when a new "
        "device is added to the build: code that works on the old ones returns at once on it. A "
        "body counts as empty that has at most 8 instructions (no-ops and branches aside), no "
        "store and no trap, where the same kernel stores on another architecture. It is told where "
        "the stated fleet (`--arch`) has a device that runs it, and else where older code for at "
        "least two major numbers stores; `arch-hollow-possible` tells the others. It is an error "
        "where sources of the same run define a kernel of that name under a guard that fails on "
        "the device, and start it without asking for the device's capability.",
    .example = R"({"path": "libops.so", "images": [
  {"container": 0, "kind": "sass", "architecture": "sm_80", "kernels": [{"name": "k", "writes": true}]},
  {"container": 0, "kind": "sass", "architecture": "sm_90", "kernels": [{"name": "k", "writes": true}]},
  {"container": 0, "kind": "sass", "architecture": "sm_100", "kernels": [{"name": "k", "instructions": 2, "writes": false, "traps": false}]}]})",
    .fix =
        "write the guard open to newer architectures, or let the other branch trap and the host "
        "refuse the device",
    .severity = Severity::warning,
    .tier = Tier::bytes,
    .inspects = "kernel with bodies for several architectures that could be judged",
    .needs = {Key::libraries, Key::path, Key::images, Key::writes},
    .check = check,
};

}  // namespace opseal
