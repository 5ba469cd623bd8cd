#pragma once

#include <string>
#include <vector>

#include "analyzers/sources/device_code.h"
#include "analyzers/sources/load_code.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Whether a tensor is dense, or of one dtype, is often seen to by who calls, in C++ or in Python:
// reads all files that call a function of which that isn't known.
void ask_callers(std::vector<DeviceCode>& codes, const std::vector<std::string>& paths,
                 const SourceTexts& texts);

}  // namespace opseal
