#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A data member of a type that is the key of a cache.
struct KeyField {
  std::string name;
  SourcePlace place;
  // It says how the object is kept, not what it is: locks, what is computed once, owners.
  bool exempt = false;
};

struct KeyType {
  std::string name;
  SourcePlace place;
  std::vector<KeyField> fields;
  std::vector<std::string> bases;
  // Names of the functions that it declares.
  std::set<std::string> methods;
  // A declaration in it was not understood.
  bool partial = false;
  // Some of the fields were found by their types.
  bool typed = false;
};

// A function that compares, hashes or names objects of one type.
struct KeyFunction {
  std::string name;
  // `equality`, `hash`, `order`, or `key`: whatever a comment says makes a key.
  std::string_view kind;
  std::string type;
  SourcePlace place;
  // Every name in it, and in the functions of the file that it calls.
  std::set<std::string> words;
  // What it calls on the object, where no body was found.
  std::set<std::string> opaque;
  // The object as a whole goes on to where nothing is followed.
  bool whole = false;
  // What a comment above it says: `// opseal: cache-key(covers=T; except=a,b: why)`.
  bool designated = false;
  std::string label;
  // A type, or empty for its own.
  std::string covers;
  // Of `covers=params(f)`: the parameters.
  std::vector<KeyField> covered;
  std::vector<std::string> except;
};

// What one file says of keys.
struct KeyCode {
  std::vector<KeyType> types;
  std::vector<KeyFunction> functions;
  // Types by which some container finds what it holds.
  std::set<std::string> looked_up;
  // Comments that stand above no function, or name one that is not there.
  std::vector<SourcePlace> idle;
};

// Whether a file can say anything of keys. Costs a fraction of reading it.
bool may_hold_keys(std::string_view bytes);

KeyCode read_keys(const PlainSource& source);

}  // namespace opseal
