#pragma once

#include <vector>

#include "analyzers/clang/typed_records.h"
#include "analyzers/sources/file_records.h"

namespace opseal {

// Adds to the types of keys what libclang knows of their members: those of bases that the text
// calls by other names, and those of members that are structures and read one by one. Both lists
// are by number of the file.
void settle_keys(const std::vector<TypedFile>& answers, std::vector<FileRecords>& files);

}  // namespace opseal
