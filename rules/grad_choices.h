#pragma once

#include "opseal/facts.h"
#include "opseal/rule.h"

namespace opseal {

// The part of `grad-dtype-narrower` that looks at code: forward and backward are operators of their
// own, and the kernels of both say how they choose by dtype.
void check_gradient_choices(const Facts& facts, Sink& sink);

}  // namespace opseal
