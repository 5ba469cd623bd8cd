#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Fills in `TorchRecord::writes` of kernels in C++: tensors among their parameters whose memory
// the function of the kernel writes to, by itself or through what it calls in the same file.
// `numbers`: the C++ sources among the files.
void find_kernel_writes(const std::vector<std::size_t>& numbers, const SourceTexts& texts,
                        std::vector<TorchRecord>& records);

}  // namespace opseal
