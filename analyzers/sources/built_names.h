#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A part of a name that code joins: a text, one of several texts, or anything.
struct NamePart {
  std::vector<PlacedName> values;
  // Nothing is known of it.
  bool open = false;
  // How often the file calls the function that gives the texts; 0: they are of assignments.
  std::size_t calls = 0;
};

// A name of a kernel that host code makes when it runs.
struct BuiltName {
  // As written.
  std::string written;
  std::string function;
  std::vector<NamePart> parts;
  SourcePlace place;
};

// Whether a file may look kernels up by names that it joins.
bool may_build_names(std::string_view bytes);

// Those with a part that is one of several texts, all of which the code gives to a kernel: texts of
// a function that refuses what it has no text for, or of assignments in the same function.
void read_built_names(const PlainSource& source, std::uint32_t number,
                      std::vector<BuiltName>& names);

}  // namespace opseal
