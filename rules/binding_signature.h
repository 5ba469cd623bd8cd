#pragma once

#include "opseal/rule.h"

namespace opseal {

// The part of `spec-signature-mismatch` that rests on sources: what a handler binds against what
// its implementation takes, and what an annotation announces against the function below it.
void check_bindings(const Facts& facts, Sink& sink);

}  // namespace opseal
