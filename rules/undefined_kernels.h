#pragma once

#include <string_view>

#include "opseal/rule.h"

namespace opseal {

// Operators that have kernels and that nobody defines, and how sure it is that nobody will.
enum class Undefined {
  // The namespace is defined nowhere, or a defined name one slip apart lacks the kernel.
  certain,
  // Others of the namespace are defined: this one may be, where a device is present.
  likely,
};

// Reports the operators of one kind.
void check_undefined_kernels(const Facts& facts, Undefined kind, Sink& sink);

}  // namespace opseal
