#pragma once

#include "opseal/registration.h"
#include "rules/kernel_roles.h"

namespace opseal {

// Some way of differentiating the operator is registered: a gradient, JVP rules, a kernel at a
// gradient key, or a composite of operators that have one.
inline bool has_gradient(const Fact& op, const KernelRoles& roles) {
  // Where the formula itself is said, a gradient key proves nothing: torch's custom operators
  // always have one, which raises where there is no formula.
  const Fact gradient = op[Key::gradient];
  if (gradient.said()) return gradient.present() || op[Key::jvp].present() || roles.implicit;
  return op[Key::jvp].present() || op[Key::linearization].present() || roles.autograd ||
         roles.implicit;
}

// Said to have none on purpose.
inline bool is_marked_without_gradient(const Fact& op) {
  return op[Key::differentiable].is_truth() && !op[Key::differentiable].truth();
}

}  // namespace opseal
