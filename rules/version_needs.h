#pragma once

#include "opseal/rule.h"
#include "rules/library_groups.h"

namespace opseal {

// The part of `library-needs-missing` for versions of libraries that are here, and for the machine
// that a package is tagged for.
void check_version_needs(const LibraryGroup& group, Sink& sink);

}  // namespace opseal
