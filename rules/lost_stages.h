#pragma once

#include "opseal/rule.h"

namespace opseal {

// The part of `handler-stage-lost` that rests on built libraries: targets that register the last
// stage of a handler whose earlier stages the file holds, too, or whose state nobody makes.
void check_stages_in_libraries(const Facts& facts, Sink& sink);

}  // namespace opseal
