#include "rules/undefined_kernels.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  check_undefined_kernels(facts, Undefined::likely, sink);
}

extern constinit const Rule impl_def_unseen{
    .id = "impl-def-unseen",
    .title = "kernel registered for an operator whose definition was not seen",
    .rationale =
        "Other operators of the namespace are defined and this one isn't, so that its kernel waits "
        "and is never called. It may be defined elsewhere: by a library that is loaded later, or "
        "only where a device is present. If not, the definition was dropped or renamed and the "
        "kernel left behind. Where no such reason can apply, it is `impl-without-def`.",
    .example =
        R"({"opseal_manifest": 1, "operators": [{"name": "lib::scale", "namespace": "lib", "schema": null, "kernels": [{"platform": "cpu"}]}, {"name": "lib::add", "namespace": "lib", "schema": "lib::add(Tensor x) -> Tensor"}]})",
    .fix = "define the operator beside its kernel, or leave the kernel out where it isn't defined",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "operator with a kernel of which it is said whether it is defined",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
