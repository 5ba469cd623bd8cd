#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/sources/cmake_targets.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// A file of a static library that registers something before `main`, and what links that library
// without any name of the file, so that the linker leaves it out: all that do, or none.
struct ArchivedRegistrar {
  // Index of the file in the tree.
  std::uint32_t file = 0;
  std::string library;
  std::vector<std::string> targets;
  // By target, where it is linked.
  std::vector<CmakeWord> links;
};

// `registering`: files of the tree that do, sorted. Needs: the whole tree.
std::vector<ArchivedRegistrar> find_archived_registrars(
    const CmakeTargets& cmake, const std::vector<std::string>& paths,
    const std::vector<std::uint32_t>& registering, const SourceTexts& texts);

}  // namespace opseal
