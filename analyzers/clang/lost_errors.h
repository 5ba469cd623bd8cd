#pragma once

#include "analyzers/clang/unit.h"

namespace opseal {

// Functions that start a kernel and do nothing with its error but give it back, and calls that drop
// what such a function gives.
class LostErrorReader {
 public:
  LostErrorReader(const ClangUnit& unit, TypedFile& file) : unit_(unit), file_(file) {}

  void read_function(CXCursor function);
  // `dropped`: the call is a statement.
  void read_call(CXCursor call, bool dropped, CXCursor function);

 private:
  bool gives_error(CXCursor function) const;

  const ClangUnit& unit_;
  TypedFile& file_;
};

}  // namespace opseal
