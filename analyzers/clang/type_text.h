#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzers/clang/unit.h"

namespace opseal {

// Writes types as a registry reads them: the names that a project gives to types are followed to
// what they stand for, those of the standard library and of frameworks stay. Not written are types
// that depend on a parameter of a template, and names that the branches of an `#if` give to
// different types.
class TypeTexts {
 public:
  explicit TypeTexts(const ClangUnit& unit) : unit_(unit) { find_ambiguous(unit.root(), 0); }

  struct Text {
    // Empty where it isn't known.
    std::string text;
    // A name was followed.
    bool resolved = false;
  };
  Text text_of(CXType type) const;

 private:
  void find_ambiguous(CXCursor scope, int depth);
  bool write(CXType type, int depth, Text& text) const;
  bool write_named(CXType type, int depth, Text& text) const;
  bool write_record(CXType type, int depth, Text& text) const;

  const ClangUnit& unit_;
  // By the qualified name: what it stands for, or nothing where that differs.
  std::map<std::string, std::string> aliases_;
};

}  // namespace opseal
