#pragma once

#include "opseal/rule.h"

namespace opseal {

// The part of `namespace-wrong` that rests on built libraries: kernels for a namespace that no
// library beside them defines, one letter off one that is defined; and two versions of a library
// that both own one namespace.
void check_namespaces_in_libraries(const Facts& facts, Sink& sink);

}  // namespace opseal
