#pragma once

#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/torch_table.h"

namespace opseal {

// Writes what a tree of sources says of torch into an open document: `operators`, and `dispatch`
// with the operators that are asked for by name.
void write_torch(const TorchTable& table, PlacedWriter& writer);

}  // namespace opseal
