#pragma once

#include <string>
#include <vector>

#include "analyzers/sources/records.h"

namespace opseal {

// Gives what Python registers through a library that another file makes (`from .library import
// lib`) the namespace of that library. Takes out the records that tell of libraries. `paths`: of
// the files, by number.
void name_imported_libraries(const std::vector<std::string>& paths,
                             std::vector<TorchRecord>& records);

}  // namespace opseal
