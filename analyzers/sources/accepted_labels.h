#pragma once

#include <vector>

#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/switch_subject.h"

namespace opseal {

// Adds the labels of further switches of a predicate whose arms can say yes: dtypes, for the most
// part. Those over `enumeration` itself are left out.
void find_accepted_labels(const CodeFunctions& code, const Enumerations& enumerations,
                          const CodeFunction& predicate, const CodeEnumeration* enumeration,
                          std::vector<AcceptedLabels>& found);

}  // namespace opseal
