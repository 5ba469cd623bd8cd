#pragma once

#include <set>
#include <string>

#include "analyzers/clang/unit.h"

namespace opseal {

// Objects whose initialization registers something, with what they read of other units while those
// may not be initialized yet; and the objects that this unit defines for others.
class StaticOrderReader {
 public:
  StaticOrderReader(const ClangUnit& unit, TypedFile& file) : unit_(unit), file_(file) {}

  // A variable of the file.
  void read(CXCursor variable);

 private:
  // What an expression does that matters here.
  struct Reads {
    std::vector<TypedUse> uses;
    std::set<std::string> names;
    // Functions that were looked into.
    std::set<std::string> functions;
    // Something in it is named for registration.
    bool registers = false;
  };
  void read_expression(CXCursor expression, int calls, int depth, Reads& reads) const;
  void read_call(CXCursor call, int calls, int depth, Reads& reads) const;
  void read_reference(CXCursor reference, Reads& reads) const;
  bool is_dynamic(CXCursor variable) const;
  bool is_made_by_code(CXType type, CXCursor value, int depth) const;
  bool calls_code(CXCursor expression, int depth) const;
  bool is_constant_by_word(CXCursor cursor) const;

  const ClangUnit& unit_;
  TypedFile& file_;
};

}  // namespace opseal
