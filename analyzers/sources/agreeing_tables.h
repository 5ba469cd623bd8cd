#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/placed_writer.h"

namespace opseal {

struct NamedKind {
  KindName kind;
  std::string text;
};

// What a project says of the values of an enumeration in one place: a text for each, or the value
// for each text.
struct KindTable {
  KindName name;
  std::vector<NamedKind> entries;
  // Texts in the order of the enumeration, beside no value.
  bool positional = false;
  // It is looked into, and may know only some.
  bool partial = false;
  // It gives a value for a text.
  bool parses = false;
  // One column of a table of structures: names, each in the row of its value.
  bool rows = false;
  // Names that code joins of texts, or those of them that a kernel has.
  bool joined = false;
  bool defined = false;
};

// An enumeration with the tables over it.
struct AgreeingTables {
  std::string enumeration;
  std::vector<KindName> kinds;
  // Those that count the others, stand for none of them, or are another name for one.
  std::vector<std::pair<KindName, std::string>> exceptions;
  std::vector<KindTable> tables;
};

// Whether a file can hold such a table at all.
bool may_hold_agreeing_tables(std::string_view bytes);

// `headers` holds the enumerations that other files declare.
std::vector<AgreeingTables> find_agreeing_tables(const CodeFunctions& code,
                                                 const CodeFunctions& headers);

// Names of enumerators that the tables of the code need an enumeration for.
std::vector<std::string> unknown_enumerators(const CodeFunctions& code);

// Rows of `dispatch`. Needs: an open list.
void write_agreeing_tables(const std::vector<AgreeingTables>& all, PlacedWriter& writer);

}  // namespace opseal
