#pragma once

#include <string>
#include <vector>

#include "analyzers/sources/load.h"
#include "opseal/facts.h"

namespace opseal {

// A CMakeLists.txt beside or above the sources of a tree.
struct BuildFile {
  InputFile file;
  // As reports name it, without `/` at its end.
  std::string folder;
  std::string text;
};

std::vector<BuildFile> build_files(const SourceFolder& folder);

}  // namespace opseal
