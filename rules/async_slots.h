#pragma once

#include "opseal/rule.h"
#include "rules/library_groups.h"

namespace opseal {

// The part of `api-version-skew` for handlers that return a future: their version says less than it
// should.
void check_async_slots(const LibraryGroup& group, Sink& sink);

}  // namespace opseal
