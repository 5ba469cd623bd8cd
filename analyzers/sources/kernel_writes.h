#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analyzers/sources/records.h"

namespace opseal {

// Fills in `TorchRecord::writes` of kernels in C++: tensors among their parameters whose memory
// the function of the kernel writes to, by itself or through what it calls in the same file.
// `numbers`: the C++ sources among the files.
void find_kernel_writes(const std::vector<std::size_t>& numbers,
                        const std::function<bool(std::size_t, std::string&)>& read,
                        std::vector<TorchRecord>& records);

}  // namespace opseal
