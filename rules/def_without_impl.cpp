#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_roles.h"
#include "rules/required_platform.h"
#include "rules/unread.h"

namespace opseal {
namespace {

// tvm-ffi's functions are their own kernels.
bool has_kernels(const Fact& manifest) { return !manifest[Key::system].is("tvm-ffi"); }

// The walk could see the kernels of an accelerator.
bool saw_accelerator(const Fact& manifest, PlatformNames& names) {
  const Fact devices = manifest[Key::devices];
  if (is_partly_unread(devices)) return false;
  if (!devices.said()) return true;
  for (const Fact device : devices.items()) {
    if (names.of(device).hardware != "cpu") return true;
  }
  return false;
}

// A kernel at a gradient key may compute the result itself; that of a torch operator written in
// Python only calls what is below.
bool may_run(const Fact& op, const KernelRoles& roles) {
  return roles.has_kernel() || roles.chooser || (roles.autograd && !op[Key::gradient].said());
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!has_kernels(manifest)) continue;
    PlatformNames names(manifest);
    const bool saw = saw_accelerator(manifest, names);
    // A registration whose name isn't known may be the one that is missing.
    const bool undecided = manifest[Key::tree][Key::undecided].size() > 0;
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op[Key::schema].is_text() || needs_no_kernel(op) || op[Key::deprecated].truth()) {
        continue;
      }
      const KernelRoles roles = kernel_roles(op, names);
      const bool runs = may_run(op, roles);
      if (!roles.known || (!runs && (!saw || undecided))) continue;
      // With nothing registered at all it is `dispatch-empty`, which leaves out torch.
      if (!roles.any && !manifest[Key::system].is("torch")) continue;
      sink.inspected();
      if (runs) continue;
      const bool traceable = roles.meta || op[Key::abstract].present();
      Finding& finding =
          sink.add(subject_of(manifest, op),
                   std::string(traceable ? "defined, with a shape function" : "defined") +
                       ", and no platform has a kernel for it",
                   evidence(op[Key::schema], "defined here" + site_of(op)));
      finding.related.push_back(evidence(op[Key::kernels], "what is registered for it"));
    }
  }
}

}  // namespace

extern constinit const Rule def_without_impl{
    .id = "def-without-impl",
    .title = "operator is defined and has no kernel on any platform",
    .rationale =
        "The name resolves, the signature is known, and with a shape function even tracing and "
        "compiling get past it; the first real call fails. The kernels were left out of this "
        "build, or their library isn't loaded. Some packages define more than they ship on "
        "purpose, and kernels may appear where a device is present, so that this is no error by "
        "itself.",
    .example =
        R"({"name": "scale", "schema": "lib::scale(Tensor x) -> Tensor", "kernels": [{"platform": "Meta"}]})",
    .fix = "ship the kernel with the definition, or define the operator where the kernel is",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "operator with a schema whose kernels are stated",
    .needs = {Key::operators, Key::schema, Key::kernels},
    .check = check,
};

}  // namespace opseal
