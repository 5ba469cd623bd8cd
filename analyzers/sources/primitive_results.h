#pragma once

#include <string>
#include <vector>

#include "analyzers/sources/file_records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Takes back that a primitive of JAX has one result where another file of the tree may say that it
// has several: `gather_p.multiple_results = True`, or a function or class that says it of what it
// is given or makes, and that is given this one.
void settle_multiple_results(const std::vector<std::string>& paths, const SourceTexts& texts,
                             std::vector<FileRecords>& files);

}  // namespace opseal
