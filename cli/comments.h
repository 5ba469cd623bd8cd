#pragma once

#include <vector>

#include "opseal/facts.h"
#include "opseal/finding.h"
#include "opseal/rule.h"

namespace opseal {

// Silences the findings that comments in the sources accept (`// opseal: ignore(rule): reason`): at
// a line of which one speaks, that is its own, or the one below where nothing else stands on its
// own. Tells of comments that give no reason, name no rule, or silence nothing.
void settle_comments(const std::vector<const Rule*>& ran, Facts& facts,
                     std::vector<Finding>& findings);

}  // namespace opseal
