#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/python/alternatives.h"
#include "analyzers/sources/placed_writer.h"

namespace opseal {

struct AlternativesRecord {
  std::uint32_t file = 0;
  PythonAlternatives of;
};

// Rows of `dispatch`. Needs: an open list.
void write_alternatives(const std::vector<AlternativesRecord>& records, PlacedWriter& writer);

}  // namespace opseal
