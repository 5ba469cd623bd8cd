#pragma once

#include "opseal/rule.h"

namespace opseal {

// The part of `dtype-declared-uncovered` that rests on built libraries: the dtypes that a kernel,
// or its operator, declares for a GPU against those in the names of the device kernels behind it.
void check_kernel_coverage(const Facts& facts, Sink& sink);

}  // namespace opseal
