#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/probe/probe_result.h"
#include "analyzers/probe/subjects.h"
#include "opseal/facts.h"

namespace opseal {

// Adds what probes came to, in a document of its own.
void write_probes(const std::vector<ProbeSubject>& subjects,
                  const std::vector<ProbeResult>& results, std::uint32_t seed, Facts& facts);

}  // namespace opseal
