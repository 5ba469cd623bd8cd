#pragma once

#include <set>
#include <string>
#include <vector>

#include "analyzers/sources/agreeing_tables.h"
#include "analyzers/sources/built_names.h"
#include "analyzers/sources/load.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Names of kernels that the sources of a tree define, macros expanded, those of Metal and OpenCL
// included.
struct KernelNames {
  std::set<std::string, std::less<>> names;
  // There may be more than were read.
  bool open = false;
};

KernelNames find_kernel_names(const SourceFolder& folder, const std::vector<std::string>& paths,
                              const SourceTexts& texts);

// A table for each name that host code makes and that some kernel has: `built`, the texts that a
// part of it may be, and `defined`, those with which it is the name of a kernel.
std::vector<AgreeingTables> join_kernel_names(const std::vector<BuiltName>& built,
                                              const KernelNames& kernels);

}  // namespace opseal
