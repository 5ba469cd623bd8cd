#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Fills in `TorchRecord::uses`: functions derived from `torch::autograd::Function` that the
// function of a kernel, or one that it calls by name in the same file, applies. `numbers`: the C++
// sources among the files.
void find_applied(const std::vector<std::size_t>& numbers, const SourceTexts& texts,
                  std::vector<TorchRecord>& records);

}  // namespace opseal
