#pragma once

#include "opseal/rule.h"
#include "rules/library_groups.h"

namespace opseal {

// The part of `library-needs-missing` about the two forms of `std::string`: what a library beside
// it has in the other form, and a package that is named after the other form.
void check_string_forms(const LibraryGroup& group, Sink& sink);

}  // namespace opseal
