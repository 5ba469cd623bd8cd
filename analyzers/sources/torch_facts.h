#pragma once

#include <vector>

#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/torch_table.h"

namespace opseal {

// Writes what a tree of sources says of torch into an open document: `operators`, and `dispatch`
// with the operators that are asked for by name.
void write_torch(const TorchTable& table, PlacedWriter& writer);

// Writes `dispatches` of what stands at that place; nothing where there are none.
void write_dispatches(const std::vector<DispatchSite>& sites, const SourcePlace& place,
                      PlacedWriter& writer);

}  // namespace opseal
