#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/fact_writer.h"
#include "analyzers/package/distribution.h"
#include "opseal/facts.h"

namespace opseal {

// A line of a Python file of the package.
struct PackagePlace {
  // Of `PackageContents::python_files`.
  std::uint32_t file = 0;
  // From 1.
  std::uint32_t line = 0;

  friend auto operator<=>(const PackagePlace&, const PackagePlace&) = default;
};

struct PackageLibrary {
  std::string path;
  // Number of its file.
  std::uint32_t file = 0;
  // Its object, which is written while the package is read: [first, end) of the nodes so far.
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  // What is known only when all of the package was read.
  std::vector<std::string> aliases;
  std::vector<PackagePlace> imported_by;
  std::vector<PackagePlace> loaded_by;
};

struct PackageContents {
  Distribution distribution;
  std::vector<PackageLibrary> libraries;
  // Names of libraries that Python files mention; sorted, each once.
  std::vector<std::string> loads;
  // Paths of its Python files.
  std::vector<std::string> python_files;
};

// Makes the one document of a package of what was read, libraries included, whose objects stand
// alone in the facts until then.
void write_package(const PackageContents& contents, FactWriter& writer, Facts& facts);

}  // namespace opseal
