#pragma once

#include <string_view>

#include "opseal/facts.h"

namespace opseal {

using LacksSymbols = bool (*)(std::string_view soname);

// Looks, for each name that a library imports and no library beside it exports, whether one that it
// needs defines it and keeps it to itself: its full symbol table tells, where the file has one.
// States what it finds as a document of its own (`Document::settings`): `entries`, each with
// `library` (the index of the library's fact) and `hidden`. A library whose definitions are asked
// for is read once more (of packages only members of zip archives are, in one pass for all of
// them); without such names, which are few, nothing is. `lacks` tells whether a library that is not
// beside the others is known to have none of their names: where one may have them, nothing is in
// vain.
// Needs: every input was read, since indexes of facts change when facts are joined.
void state_hidden_symbols(Facts& facts, LacksSymbols lacks);

}  // namespace opseal
