#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/registrars_cpp.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Objects that register before `main` in a table that stands at the namespace scope of another
// file, told by the text alone: a map, functions of its file that are named for registration and
// use it, classes whose constructors call these, and objects of such classes, mostly made by a
// macro. One record for each table and kind of object, at the first object in another file.
// `holding`: those of the C++ files that may hold a table.
std::vector<RegistrarRecord> find_static_tables(const std::vector<std::string>& paths,
                                                const std::vector<std::size_t>& cpp_files,
                                                const std::vector<std::size_t>& holding,
                                                const SourceTexts& texts);

// Whether a look for such tables into a file is worth it.
bool may_hold_static_table(std::string_view bytes);

}  // namespace opseal
