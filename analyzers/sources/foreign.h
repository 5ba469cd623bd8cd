#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/foreign.h"
#include "analyzers/sources/c_functions.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Functions of C, and what Python says of them through `ctypes`.
inline constexpr std::string_view foreign_system = "ctypes";

// What one file of Python says.
struct ForeignRecord {
  std::uint32_t file = 0;
  PythonForeignFile said;
};

struct ForeignUse {
  PythonForeign said;
  std::uint32_t file = 0;
};

struct ForeignTree {
  std::vector<CFunction> functions;
  // Of those alone.
  std::vector<ForeignUse> uses;
};

// Finds the functions of the tree that Python declares or calls. `cpp_files`: their numbers.
ForeignTree join_foreign(std::vector<ForeignRecord> records, const std::vector<std::string>& paths,
                         const std::vector<std::size_t>& cpp_files, const SourceTexts& texts);

// Writes `functions` and `uses`. Needs: an open document.
void write_foreign(const ForeignTree& tree, PlacedWriter& writer);

}  // namespace opseal
