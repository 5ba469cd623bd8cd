#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/python/parsed.h"

namespace opseal {

// Types of `ctypes` in Python, as the words of PythonForeign.
class ForeignTypes {
 public:
  // Needs: the file outlives this.
  explicit ForeignTypes(const ParsedPython& file) : syntax_(file.syntax), scopes_(file.scopes) {}

  std::string of(SyntaxIndex expression) const { return of(expression, 0); }
  // Of `[c_int] * 2 + [c_void_p]`; nothing where it isn't written out.
  std::optional<std::vector<std::string>> of_list(SyntaxIndex expression) const;
  // Of an argument of a call that nobody declared.
  std::string of_argument(SyntaxIndex expression) const;

 private:
  using Words = std::optional<std::vector<std::string>>;

  std::string of(SyntaxIndex expression, std::size_t depth) const;
  std::string of_call(SyntaxIndex call, std::size_t depth) const;
  Words of_list(SyntaxIndex expression, std::size_t depth) const;
  Words of_sum(SyntaxIndex expression, std::size_t depth) const;
  SyntaxIndex first_argument(SyntaxIndex call) const;

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
};

}  // namespace opseal
