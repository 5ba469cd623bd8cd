#pragma once

#include <functional>
#include <string_view>

#include "opseal/rule.h"
#include "rules/library_groups.h"

namespace opseal {

// Whether somebody else than the package may well provide the library with that soname.
using MayComeFromElsewhere = std::function<bool(const PlacedLibrary&, std::string_view soname)>;

// The part of `library-needs-missing` for libraries of a wheel that are packed where nobody finds
// them. A library of the package is found only where a run path leads to it, or where it was loaded
// before. The run path of a library doesn't hold for those that load it or that it loads, but
// `DT_RPATH` does.
void check_reach(const LibraryGroup& group, const MayComeFromElsewhere& may_come_from_elsewhere,
                 Sink& sink);

}  // namespace opseal
