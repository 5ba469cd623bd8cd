#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/tokens.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// The dtypes of the tensors that the function with this body hands back, in the words of
// `SourceFunction::results`; empty where nothing is known.
std::vector<std::string> result_dtypes_of(Tokens body,
                                          const std::vector<std::string_view>& parameters);

// Fills in `SourceFunction::results` and `ranks` of C++ kernels whose operator has a shape function
// that tells some of them, or a backward. Needs: `TorchRecord::dispatches`. A dtype is `f16`, or
// `$x` for that of the parameter `x`, where the code chooses by it and so takes several; `?` for
// what the text doesn't tell. `numbers`: the C++ sources among the files.
void find_result_dtypes(const std::vector<std::size_t>& numbers, const SourceTexts& texts,
                        std::vector<TorchRecord>& records);

}  // namespace opseal
