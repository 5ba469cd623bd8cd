#pragma once

#include <map>
#include <string>

#include "analyzers/clang/unit.h"

namespace opseal {

// Pointers that a member function of a temporary gives, kept beyond the statement: the temporary
// frees what they point to when the statement ends. Said only of types that own what they give, by
// what their source shows: a view, a counted reference and a class without a body may be fine.
class TemporaryReader {
 public:
  TemporaryReader(const ClangUnit& unit, TypedFile& file) : unit_(unit), file_(file) {}

  // A declaration of a variable, an assignment, or a `return`; `function` is where it stands.
  void read(CXCursor cursor, CXCursor function);
  // The members that a constructor begins with.
  void read_members(CXCursor constructor);
  // The values in braces of a variable.
  void read_list(CXCursor list, CXCursor function);

 private:
  void read_value(CXCursor value, CXCursor function);
  bool is_pointer(CXType type) const {
    return unit_.clang().getCanonicalType(type).kind == CXType_Pointer;
  }
  CXCursor kept_value(CXCursor cursor, CXCursor function) const;
  bool is_temporary(CXCursor object) const;
  bool gives_own_memory(CXCursor method) const;
  bool owns(CXCursor record, int depth);
  bool look_at(CXCursor record, int depth);
  bool frees(CXCursor destructor) const;

  const ClangUnit& unit_;
  TypedFile& file_;
  // By name of the type.
  std::map<std::string, bool> owning_;
};

}  // namespace opseal
