#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Fills in `SourceFunction::results` and `ranks` of C++ kernels whose operator has a shape function
// that tells some of them. A dtype is `f16`, or `$x` for that of the parameter `x`, where the code
// chooses by it and so takes several; `?` for what the text doesn't tell. `numbers`: the C++
// sources among the files.
void find_result_dtypes(const std::vector<std::size_t>& numbers, const SourceTexts& texts,
                        std::vector<TorchRecord>& records);

}  // namespace opseal
