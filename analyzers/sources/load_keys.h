#pragma once

#include <cstddef>
#include <vector>

#include "analyzers/sources/file_records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Adds the types whose every field a comment wants used, where they stand in a file that says
// nothing else of keys: a header, mostly.
void find_covered_types(const std::vector<std::size_t>& cpp_files, const SourceTexts& texts,
                        std::vector<FileRecords>& files);

}  // namespace opseal
