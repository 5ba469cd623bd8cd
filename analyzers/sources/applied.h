#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analyzers/sources/records.h"

namespace opseal {

// Fills in `TorchRecord::uses`: functions derived from `torch::autograd::Function` that the
// function of a kernel, or one that it calls by name in the same file, applies. `numbers`: the C++
// sources among the files.
void find_applied(const std::vector<std::size_t>& numbers,
                  const std::function<bool(std::size_t, std::string&)>& read,
                  std::vector<TorchRecord>& records);

}  // namespace opseal
