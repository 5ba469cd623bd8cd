#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/places.h"
#include "opseal/facts.h"
#include "opseal/finding.h"
#include "opseal/rule.h"

namespace opseal {

// Silences the findings that comments in the sources accept (`// opseal: ignore(rule): reason`): at
// a line of which one speaks, that is its own, or the one below where nothing else stands on its
// own. A dump of sources says instead which facts stand there (`covered`). Tells of comments that
// give no reason, name no rule, or silence nothing.
void settle_comments(const std::vector<const Rule*>& ran, Facts& facts,
                     std::vector<Finding>& findings);

// The node of each such comment that was read in a source -> JSON pointers to the facts at the
// lines of which it speaks, in a file that holds these documents alone.
using CoveredFacts = std::map<std::uint32_t, std::vector<std::string>>;
CoveredFacts covered_facts(const Facts& facts, const std::vector<const Document*>& documents,
                           Places& places);

}  // namespace opseal
