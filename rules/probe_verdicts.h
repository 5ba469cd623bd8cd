#pragma once

#include <cstdint>
#include <vector>

#include "opseal/facts.h"
#include "opseal/finding.h"

namespace opseal {

// What calls say of findings that rest on reading alone: marks those that a probe of the same thing
// confirms, and takes those away that one refutes. Returns how many it took away.
std::uint64_t apply_probe_verdicts(const Facts& facts, std::vector<Finding>& findings);

}  // namespace opseal
