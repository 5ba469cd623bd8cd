#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/agreeing_tables.h"

namespace opseal {

// Whether a file can hold a table of structures at all.
bool may_hold_row_tables(std::string_view bytes);

// Tables with a structure for each value of an enumeration, `[A] = {.run = run_a, .with = B}` or
// `{A, run_a, B}`: each column that names things is a table of its own, with `rows` set.
// `number`: of the file.
void find_row_tables(const PlainSource& source, std::uint32_t number,
                     std::vector<AgreeingTables>& tables);

}  // namespace opseal
