#pragma once

#include "analyzers/clang/unit.h"

namespace opseal {

// Calls that register something and answer whether it worked, by the type of their answer: an
// enumeration, a class named for it, or `[[nodiscard]]`.
class StatusReader {
 public:
  StatusReader(const ClangUnit& unit, TypedFile& file) : unit_(unit), file_(file) {}

  // A call; `parent` is what it stands in once conversions are passed over.
  void read(CXCursor call, CXCursor parent);
  // Nobody reads what the call gives.
  bool is_statement(CXCursor call, CXCursor parent) const;

 private:
  bool answers(CXCursor function) const;

  const ClangUnit& unit_;
  TypedFile& file_;
};

}  // namespace opseal
