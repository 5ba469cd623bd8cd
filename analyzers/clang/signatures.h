#pragma once

#include <optional>
#include <vector>

#include "analyzers/clang/type_text.h"
#include "analyzers/clang/unit.h"

namespace opseal {

// What the functions of a question take and give back.
class SignatureReader {
 public:
  SignatureReader(const ClangUnit& unit, const TypedQuestion& question, TypedFile& file)
      : unit_(unit), question_(question), file_(file), types_(unit) {}

  // A function or lambda of the file.
  void read(CXCursor cursor);
  // Functions, and pointers to some, that were asked for by name; in the headers of the project,
  // too. Names that stand for several are left out.
  void read_named();

 private:
  void find_named(CXCursor scope, int depth);
  std::optional<TypedFunction> signature_of(CXCursor function, bool with_names) const;
  std::optional<TypedFunction> signature_of_type(CXType type) const;
  bool add_parameter(CXType type, const std::string& name, TypedFunction& function) const;

  const ClangUnit& unit_;
  const TypedQuestion& question_;
  TypedFile& file_;
  TypeTexts types_;
  std::vector<TypedFunction> named_;
};

}  // namespace opseal
