#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/library_sets.h"

namespace opseal {

// What one file is called in two builds: without the digest that `auditwheel` puts into the names
// of what it adds (`libgomp-a34b3233.so.1`), and the interpreter that a module is for
// (`_x.cpython-311-x86_64-linux-gnu.so`, `_x.abi3.so`).
std::string lasting_name(std::string_view path);

struct PairedLibraries {
  std::vector<std::pair<Fact, Fact>> pairs;
  std::vector<Fact> removed;
  std::vector<Fact> added;
};

// Joins libraries by the name of the file: two builds seldom lie in one place. Those that share it
// with another of their side are joined by more of the path. Each list is in the order of names.
PairedLibraries pair_libraries(const LibrarySet& before, const LibrarySet& after);

}  // namespace opseal
