#pragma once

#include "analyzers/sources/load.h"
#include "cli/settings.h"
#include "opseal/facts.h"

namespace opseal {

// Tells of macros of the configuration that sources use with another number of arguments, and,
// where `whole` trees were read, of those that nothing there uses.
void tell_macro_uses(const Settings& settings, const MacroUses& uses, bool whole, Facts& facts);

}  // namespace opseal
