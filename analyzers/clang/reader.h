#pragma once

#include "analyzers/clang/typed_records.h"
#include "analyzers/clang/unit.h"

namespace opseal {

// What a parsed file answers.
TypedFile read_with_types(const ClangUnit& unit, const TypedQuestion& question);

}  // namespace opseal
