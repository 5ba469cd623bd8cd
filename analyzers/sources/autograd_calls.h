#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzers/sources/file_records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// A forward with defaults takes any of several numbers of inputs, and a backward has to hand back
// as many gradients as the call gave: where calls of Python say a number for which the gradients
// don't fit, it is this number. `paths`: of the files, by number.
void count_applied(const std::vector<std::string>& paths, const SourceTexts& texts,
                   std::vector<FileRecords>& files);

}  // namespace opseal
