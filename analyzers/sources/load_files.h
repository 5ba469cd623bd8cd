#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzers/source/source_tree.h"
#include "analyzers/source/word_index.h"
#include "analyzers/sources/file_records.h"
#include "analyzers/sources/load.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// The bytes of a file; false when they can't be had, or are more than those of a source.
bool read_source_bytes(const InputFile& file, std::string& bytes);

// Reads each file of a tree on its own, and writes down what it says and which words it has.
// Gives the C++ of the tree, whose macros further readers expand. `paths`: of the files. Needs:
// they and the texts outlive the result.
std::unique_ptr<SourceTree> load_files(const SourceFolder& folder,
                                       const std::vector<std::string>& paths,
                                       const SourceTexts& texts, unsigned threads,
                                       const std::string& stated_macros, WordIndex& words,
                                       TreeRecords& records);

}  // namespace opseal
