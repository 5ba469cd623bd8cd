#pragma once

#include <vector>

#include "analyzers/sources/records.h"

namespace opseal {

// Gives C++ records whose namespace only the build knows (`TORCH_EXTENSION_NAME`) the namespace by
// which the tree's Python asks for the same operators. Where two fit, it stays open.
void name_open_spaces(std::vector<TorchRecord>& records);

}  // namespace opseal
