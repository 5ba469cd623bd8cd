#pragma once

#include "opseal/facts.h"

namespace opseal {

// Looks, for each name that a library imports and no library beside it exports, whether one that it
// needs defines it and keeps it to itself: its full symbol table tells, where the file has one.
// States what it finds as a document of its own (`Document::settings`): `entries`, each with
// `library` (the index of the library's fact) and `hidden`. A library whose definitions are asked
// for is read once more; without such names, which are few, nothing is.
// Needs: every input was read, since indexes of facts change when facts are joined.
void state_hidden_symbols(Facts& facts);

}  // namespace opseal
