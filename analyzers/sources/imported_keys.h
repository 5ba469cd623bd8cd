#pragma once

#include <string>
#include <vector>

#include "analyzers/sources/file_records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Caches of Python whose key another file of the tree makes: `from .hashing import cache_key`.
// Added to the files that build.
void find_imported_keys(const std::vector<std::string>& paths, const SourceTexts& texts,
                        std::vector<FileRecords>& files);

}  // namespace opseal
