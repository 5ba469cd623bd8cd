#pragma once

#include <iosfwd>

#include "opseal/facts.h"

namespace opseal {

// Every check of a framework that `opseal probe` made, with what was seen: also those that passed,
// since nobody knows them by a file. Nothing where there were none.
void write_framework_rows(const Facts& facts, std::ostream& out);

}  // namespace opseal
