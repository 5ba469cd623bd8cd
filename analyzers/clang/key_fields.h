#pragma once

#include <set>
#include <string>
#include <vector>

#include "analyzers/clang/unit.h"

namespace opseal {

// Of functions that compare, hash or name keys: all members of the type, those of bases whatever
// names these go by, and those of members that are structures of the project; and which are read.
class KeyFieldReader {
 public:
  KeyFieldReader(const ClangUnit& unit, const TypedQuestion& question, TypedFile& file)
      : unit_(unit), question_(question), file_(file) {}

  void read(CXCursor function);

 private:
  CXCursor object_of(CXCursor function) const;
  CXCursor record_of(CXType type) const;
  std::vector<CXCursor> members_of(CXCursor record) const;
  void add_fields(CXCursor record, const std::string& before, int depth, TypedKey& key) const;
  void add_reads(CXCursor expression, int depth, std::set<std::string>& reads) const;
  std::string path_of(CXCursor member) const;

  const ClangUnit& unit_;
  const TypedQuestion& question_;
  TypedFile& file_;
};

}  // namespace opseal
