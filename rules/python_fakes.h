#pragma once

#include "opseal/registration.h"
#include "opseal/sources.h"
#include "rules/kernel_roles.h"

namespace opseal {

// Calls `visit(manifest, op, abstract, roles)` for every operator of torch, read from sources, that
// has kernels and a shape function which Python registers.
template <typename Visit>
void for_each_python_fake(const Facts& facts, Visit visit) {
  for_each_operator_with_names(
      facts, [&visit](const Fact& manifest, const Fact& op, PlatformNames& names) {
        const Fact abstract = op[Key::abstract];
        if (!manifest[Key::system].is("torch") || !is_of_sources(manifest)) return;
        if (!abstract.is_object() || !is_in_python(abstract)) return;
        const KernelRoles roles = kernel_roles(op, names);
        if (roles.any) visit(manifest, op, abstract, roles);
      });
}

}  // namespace opseal
