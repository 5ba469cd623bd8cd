#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzers/sources/file_records.h"
#include "analyzers/sources/load_code.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Gathers the classes that somebody has to name for a runtime to know them, from all files, and
// finds who names them. `cpp_files`: numbers of the files that may.
void join_plugins(const std::vector<std::string>& paths, const std::vector<std::size_t>& cpp_files,
                  const SourceTexts& texts, std::vector<FileRecords>& files, PluginRecords& all);

}  // namespace opseal
