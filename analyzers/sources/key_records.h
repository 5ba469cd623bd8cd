#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/key_code.h"

namespace opseal {

class PlacedWriter;

// A type by which entries are found, with the functions that tell its objects apart.
struct KeyRecord {
  struct Function {
    std::string name;
    std::string_view kind;
    SourcePlace place;
    // Names of the fields.
    std::vector<std::string> uses;
  };

  std::string name;
  SourcePlace place;
  // All that are found; one that says how the object is kept is exempt.
  std::vector<KeyField> fields;
  std::vector<std::string> exempt;
  std::vector<Function> functions;
  // A comment says that its functions must use every field.
  bool designated = false;
  // Fields were found by their types.
  bool typed = false;
};

// Joins types and functions of a whole tree: bodies often stand in another file than the type.
// `files`: by number of the file.
std::vector<KeyRecord> join_keys(const std::vector<const KeyCode*>& files);

// Into the list of caches.
void write_keys(const std::vector<KeyRecord>& records, PlacedWriter& writer);

}  // namespace opseal
