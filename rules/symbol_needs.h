#pragma once

#include "opseal/rule.h"
#include "rules/library_groups.h"

namespace opseal {

// The part of `library-needs-missing` for single symbols: those that a needed library of the group
// defines and keeps to itself, those that it exports under another version only, and those that no
// library has while one has the same function with other parameters, or others of its namespace.
void check_symbol_needs(const LibraryFacts& libraries, const LibraryGroup& group, Sink& sink);

}  // namespace opseal
