#include "rules/undefined_kernels.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  check_undefined_kernels(facts, Undefined::certain, sink);
}

extern constinit const Rule impl_without_def{
    .id = "impl-without-def",
    .title = "kernel registered for an operator that nobody defines",
    .rationale =
        "A registry that parts definitions from kernels lets a kernel wait for a definition that "
        "comes later. Here none came: nothing in the namespace is defined, or the name is a slip "
        "of "
        "a defined one that lacks this very kernel. The registration succeeds without a "
        "word, the kernel is never called, and users get \"not implemented\" for code that is "
        "there. A shape function whose name is such a slip is never asked either.",
    .example =
        R"({"name": "lib::scale", "namespace": "lib", "schema": null, "kernels": [{"platform": "cpu"}]})",
    .fix = "define the operator, or register the kernel under the name that is defined",
    .severity = Severity::error,
    .inspects = "operator with a kernel of which it is said whether it is defined",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
