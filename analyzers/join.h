#pragma once

#include <string>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// Adds what the configuration and the command line state (platforms that every operator must serve,
// architectures of the fleet) as a document of its own, so that rules hear it like any other
// statement. Nothing when both are empty.
void state_settings(const std::vector<std::string>& platforms,
                    const std::vector<std::string>& architectures, Facts& facts);

}  // namespace opseal
