#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/clang/unit.h"

namespace opseal {

// What a value of an enumeration is held against where it isn't written as an enumerator: a
// constant that code works out, a member of a template, a number behind a cast. And of names that
// several enumerations have, which is meant.
class EnumeratorReader {
 public:
  EnumeratorReader(const ClangUnit& unit, TypedFile& file) : unit_(unit), file_(file) {}

  // Finds the names that several enumerations have.
  void find_shared(CXCursor scope, int depth);
  void read_switch(CXCursor statement);
  void read_comparison(CXCursor comparison);
  void read_reference(CXCursor reference);

 private:
  CXCursor enumeration_of(CXCursor expression) const;
  void read_labels(CXCursor statement, CXCursor enumeration, int depth);
  void read_value(CXCursor expression, CXCursor enumeration);
  std::optional<long long> value_of(CXCursor expression) const;

  const ClangUnit& unit_;
  TypedFile& file_;
  // By enumerator: the enumeration; empty where there are several.
  std::map<std::string, std::string> enumerators_;
};

}  // namespace opseal
