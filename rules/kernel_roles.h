#pragma once

#include <string_view>

#include "opseal/platforms.h"
#include "opseal/registration.h"

namespace opseal {

// What the rows of one operator stand for. A registry with dispatch keys (torch) keeps gradients,
// shape functions and wrappers in the same table as kernels.
struct KernelRoles {
  // Every row was read, so that one which isn't here isn't registered.
  bool known = false;
  // Some row is active.
  bool any = false;
  // The first active row of each kind, or not said.
  Fact device;
  // Serves every device.
  Fact every;
  // Computes shapes and dtypes only.
  Fact meta;
  // A gradient, for every device or one.
  Fact autograd;
  // Stands in front of kernels and may do their work: picks a device, or leaves to Python.
  Fact chooser;
  // Made of differentiable operators, so differentiable itself.
  Fact implicit;

  bool has_kernel() const { return device || every; }
};

inline bool is_autograd_key(std::string_view platform) { return platform.starts_with("Autograd"); }

inline KernelRoles kernel_roles(const Fact& op, PlatformNames& names) {
  KernelRoles roles;
  const Fact kernels = op[Key::kernels];
  roles.known = kernels.is_list();
  for (const Fact kernel : kernels.items()) {
    const Fact written = kernel[Key::platform];
    if (!kernel.said() || !written.is_text()) roles.known = false;
    if (!written.is_text() || !is_active_kernel(kernel)) continue;
    roles.any = true;
    const auto note = [&kernel](Fact& first) {
      if (!first) first = kernel;
    };
    if (is_autograd_key(written.text())) {
      note(roles.autograd);
      continue;
    }
    if (written.is("CompositeImplicitAutograd")) note(roles.implicit);
    const Platform platform = names.of(written);
    if (platform.role == PlatformRole::every) {
      note(roles.every);
    } else if (platform.role == PlatformRole::wrapper) {
      if (platform.name == "meta") note(roles.meta);
      if (platform.name == "backendselect" || platform.name == "python") note(roles.chooser);
    } else {
      note(roles.device);
    }
  }
  return roles;
}

// Calls `visit(manifest, op, names)` for every operator, `names` being those of its manifest.
template <typename Visit>
void for_each_operator_with_names(const Facts& facts, Visit visit) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.said()) visit(manifest, op, names);
    }
  }
}

}  // namespace opseal
