#pragma once

#include <cstdint>
#include <string_view>

#include "analyzers/analyzers.h"
#include "opseal/facts.h"

namespace opseal {

// Packages: wheels and other zips, conda and Debian packages, tar archives. They are read in place:
// nothing is unpacked to disk, and no member is run.

// By magic numbers; what only may be one is asked for its members, since most zips and compressed
// files hold no library.
Accepts accepts_package(std::string_view head, bool whole);
// Whether it is a wheel, a conda package or an archive with a member named like a library. True,
// too, for one that is damaged behind its first members: what is wrong with it should be told.
bool confirms_package(ByteSource& source);

// One document with `distribution` and `libraries`; each library is a file of its own, named
// `PACKAGE!/PATH`. Throws InputError where the package can't be read to its end: a list of some of
// its libraries would accuse the others of missing what is there.
void load_package(const InputFile& input, unsigned threads, Facts& facts);

}  // namespace opseal
