#pragma once

#include "opseal/facts.h"
#include "opseal/rule.h"

namespace opseal {

// The part of `grad-dtype-narrower` that looks at code: forward and backward are operators of their
// own, or functions of a module, and their code says how it chooses by dtype.
void check_gradient_choices(const Facts& facts, Sink& sink);

}  // namespace opseal
