#pragma once

#include "opseal/rule.h"

namespace opseal {

// The part of `spec-signature-mismatch` that rests on built libraries: the spec of a target against
// what the handler behind its symbol binds.
void check_handler_signatures(const Facts& facts, Sink& sink);

}  // namespace opseal
