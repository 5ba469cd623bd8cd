#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// C++ and Python sources that are read as one input, since what one file defines another one
// implements.
struct SourceFolder {
  // What reports name where the tree as a whole is meant.
  InputFile place;
  // Sorted by path.
  std::vector<InputFile> files;
  // Other files of the project may say more.
  bool partial = false;
};

struct SourceFacts {
  // A document for each system that anything is registered with; none in most folders.
  Facts facts;
  // Files that say something.
  std::uint64_t used = 0;
};

// What a tree of sources registers, from its text alone: nothing is compiled, run or imported.
SourceFacts load_sources(SourceFolder folder, unsigned threads);

// Whether a file is read as a source, by its name.
bool is_source(std::string_view path);

// The part of a path that names a tree of its own: what tests, benchmarks, examples and vendored
// projects register is not the project's. Empty for what is.
std::string own_tree_of(std::string_view path);

}  // namespace opseal
