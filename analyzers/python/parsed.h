#pragma once

#include <string_view>

#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// A Python file that is parsed once for all that look into it.
class ParsedPython {
 public:
  // Throws InputError as `PythonSyntax` does.
  // Needs: the text outlives this.
  explicit ParsedPython(std::string_view text) : syntax(text), scopes(syntax) {}
  ParsedPython(const ParsedPython&) = delete;
  ParsedPython& operator=(const ParsedPython&) = delete;

  const PythonSyntax syntax;
  const PythonScopes scopes;
};

}  // namespace opseal
