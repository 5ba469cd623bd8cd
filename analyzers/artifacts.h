#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "opseal/facts.h"

namespace opseal {

// Reads a library that is no input: what it says as facts of their own, with one document, or with
// none where the file is no library.
using ReadLibrary = std::function<Facts(const std::string& path)>;

// Looks at the files that `libraries[].path` names and states what is there, as a document of its
// own (`Document::settings`): `entries`, each with `library` (the index of the library's fact),
// `found`, where the manifest says a digest `found_digest`, and `content`, the index of the library
// that was read from the file: by an input, or with `read` (which may be empty: then nothing is
// read that is no input). Needs: every input was read, since indexes of facts change when facts are
// joined.
//
// A manifest often comes from another machine. So a file is looked for only inside the folder of
// its manifest, without following `..`, and is stated to be missing only where something shows that
// the manifest lies beside what it names: another of its libraries with the same suffix is there,
// or the same folder holds such a file. Everything else stays not said. Nothing is looked for where
// the manifest itself says `found`, or came from standard input.
void state_artifacts(const ReadLibrary& read, Facts& facts);

// A path that a manifest states and that leads nowhere but below the folder it starts from.
bool stays_inside(std::string_view path);

}  // namespace opseal
