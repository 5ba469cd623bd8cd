#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/kernel_roles.h"

namespace opseal {
namespace {

// The first kernel for one device whose code applies a function with a backward of its own.
Fact applying_kernel(const Fact& op, PlatformNames& names) {
  for (const Fact kernel : op[Key::kernels].items()) {
    if (kernel[Key::uses].size() == 0 || !is_active_kernel(kernel)) continue;
    const Fact platform = kernel[Key::platform];
    if (is_autograd_key(platform.text())) continue;
    if (names.of(platform).role == PlatformRole::device ||
        platform.is("CompositeExplicitAutograd")) {
      return kernel;
    }
  }
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator_with_names(
      facts, [&sink](const Fact& manifest, const Fact& op, PlatformNames& names) {
        if (is_partial_tree(manifest)) return;
        const Fact kernel = applying_kernel(op, names);
        if (!kernel) return;
        const KernelRoles roles = kernel_roles(op, names);
        if (!roles.known) return;
        sink.inspected();
        if (roles.autograd || roles.implicit || op[Key::gradient].said()) return;
        const Fact applied = *kernel[Key::uses].items().begin();
        Finding& finding =
            sink.add(subject_of(manifest, op),
                     "kernel on " + decision_text(kernel) + " applies " + quote(applied.text()) +
                         ", which has a backward, and the operator has no kernel at `Autograd`",
                     evidence(kernel[Key::platform], "the kernel" + site_of(kernel)));
        finding.related.push_back(evidence(applied, "applied by its code"));
      });
}

}  // namespace

extern constinit const Rule autograd_below_key{
    .id = "autograd-below-key",
    .title = "backward is set up in a kernel that stands below autograd",
    .rationale =
        "Kernels for a device run after the dispatcher has dealt with gradients. A function with a "
        "backward of its own that is applied there is seen by no `Autograd` kernel: newer releases "
        "warn that no formula is registered, and where the call comes through another operator "
        "with a gradient, or under `torch.compile`, the result is cut off from the graph without "
        "a word.",
    .example =
        R"({"name": "lib::pool", "kernels": [{"platform": "CUDA", "uses": ["PoolFunction"]}]})",
    .fix = "register what applies the function at `Autograd`, and at the devices what it calls",
    .severity = Severity::warning,
    .inspects = "operator with a kernel for a device whose code applies a function with a backward",
    .needs = {Key::operators, Key::kernels, Key::uses},
    .check = check,
};

}  // namespace opseal
