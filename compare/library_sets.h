#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// Libraries that one user gets together: those of one manifest or package, or all files that were
// given or lie below a given directory.
struct LibrarySet {
  // The manifest or package; of files the first one's.
  Fact manifest;
  std::vector<Fact> libraries;
  // All of them were read, so that a library that isn't among them isn't there.
  bool known = true;
  // They are files by themselves, whose paths begin where the run was started.
  bool files = false;

  // A package; else nothing.
  Fact distribution() const { return manifest[Key::distribution]; }
};

struct LibrarySets {
  std::vector<std::pair<LibrarySet, LibrarySet>> pairs;
  // Packages of one side only.
  std::vector<LibrarySet> removed;
  std::vector<LibrarySet> added;
};

// Joins what two sides hold: packages by name, manifests by system, files with files; what stays
// alone on each side is one pair, whatever it is called.
LibrarySets library_sets(const Facts& facts);

// "wheel vllm", or the path of the first library.
std::string subject_of(const LibrarySet& set);

}  // namespace opseal
