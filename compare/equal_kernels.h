#pragma once

#include <vector>

#include "rules/two_dumps.h"

namespace opseal {

// Takes away the kernels that both lists have, each as often as both have it: those that say the
// same, but for places and for the module of a function.
void drop_equal_kernels(std::vector<ServingKernel>& before, std::vector<ServingKernel>& after);

}  // namespace opseal
