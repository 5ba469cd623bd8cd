#pragma once

#include <string>
#include <vector>

#include "analyzers/sources/file_records.h"
#include "analyzers/sources/load.h"
#include "opseal/facts.h"

namespace opseal {

// Writes what a tree says into empty facts: a document for each system that says anything, and the
// problems. Moves the records. `paths`: of the files, by number.
void write_documents(TreeRecords& records, const SourceFolder& folder,
                     const std::vector<std::string>& paths, Facts& facts);

}  // namespace opseal
