#include <algorithm>
#include <string>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/kernel_roles.h"

namespace opseal {
namespace {

// The device that the name of a function says at its end: `cpu` of `lib::scale_cpu`.
std::string device_in_name(std::string_view function) {
  const std::size_t colon = function.rfind(':');
  if (colon != function.npos) function.remove_prefix(colon + 1);
  const std::size_t line = function.rfind('_');
  if (line == function.npos || line == 0) return {};
  const std::string_view word = function.substr(line + 1);
  for (const std::string_view device : {"cpu", "cuda", "gpu", "hip", "xpu", "mps", "npu"}) {
    if (word == device) return std::string(word);
  }
  return {};
}

// A kernel for a device by another function.
Fact other_device_kernel(const Fact& op, const Fact& composite, PlatformNames& names) {
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || is_autograd_key(kernel[Key::platform].text())) continue;
    if (names.of(kernel[Key::platform]).role != PlatformRole::device) continue;
    const Fact function = kernel[Key::function][Key::name];
    if (function.is_text() && function.name() != composite[Key::function][Key::name].name()) {
      return kernel;
    }
  }
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator_with_names(
      facts, [&sink](const Fact& manifest, const Fact& op, PlatformNames& names) {
        if (!manifest[Key::system].is("torch")) return;
        const KernelRoles roles = kernel_roles(op, names);
        const Fact composite = roles.implicit;
        if (!composite || composite[Key::when].said()) return;
        const Fact name = composite[Key::function][Key::name];
        if (!name.is_text()) return;
        const Fact other = other_device_kernel(op, composite, names);
        if (!other) return;
        sink.inspected();
        const std::string device = device_in_name(name.text());
        if (device.empty()) return;
        Finding& finding = sink.add(
            subject_of(manifest, op),
            "function " + quote(name.text()) + " for " + quote(device) +
                " is registered for every device, at `CompositeImplicitAutograd`, beside a kernel "
                "for " +
                decision_text(other),
            evidence(composite, "without a key" + site_of(composite)));
        finding.related.push_back(evidence(other, "with a key" + site_of(other)));
      });
}

}  // namespace

extern constinit const Rule composite_device_kernel{
    .id = "composite-device-kernel",
    .title = "kernel for one device is registered for all of them",
    .rationale =
        "A function that is handed to `m.def`, or to `impl` without a key, becomes the kernel of "
        "every device that has none of its own, at `CompositeImplicitAutograd`. The function of "
        "one device then gets tensors of another. And torch takes such an operator to be made of "
        "differentiable ones: it is decomposed before dispatch modes see it, no warning says "
        "that it has no gradient, and a shape function for it is refused.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "lib::f", "kernels": [)"
        R"({"platform": "CompositeImplicitAutograd", "function": {"name": "f_cpu"}}, )"
        R"({"platform": "CUDA", "function": {"name": "f_cuda"}}]}]})",
    .fix = "define the operator by its schema alone, and register the function at its device",
    .severity = Severity::warning,
    .inspects = "operator of torch with a composite kernel and one for a device",
    .needs = {Key::operators, Key::kernels, Key::function},
    .check = check,
};

}  // namespace opseal
