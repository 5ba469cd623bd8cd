#pragma once

#include <string>

#include "opseal/facts.h"

namespace opseal {

// What was read of libraries in which no rule found anything to look at, and what they lack of that
// which rules look at.
std::string unjudged_libraries_text(const Facts& facts);

}  // namespace opseal
