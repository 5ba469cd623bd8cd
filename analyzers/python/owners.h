#pragma once

#include <string>
#include <vector>

#include "analyzers/python/call_forms.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// A call of something that registers, told by its name and where that comes from.
struct PythonCallee {
  const PythonCallForm* form = nullptr;
  // As far as imports tell it.
  std::string full_name;
  // What it is a method of, or none.
  SyntaxIndex owner = no_syntax;
};

// Which form a callee is, or none. `arguments`: its argument list, or none for a bare decorator.
PythonCallee python_callee(const PythonSyntax& syntax, const PythonScopes& scopes,
                           SyntaxIndex function, SyntaxIndex arguments);

// The calls by which what stands here can have been made: `lib` of `lib = Library(…)`, `op` of a
// function under `@custom_op(…)`. At most `PythonScopes::max_meanings`.
std::vector<SyntaxIndex> python_makers(const PythonSyntax& syntax, const PythonScopes& scopes,
                                       SyntaxIndex expression);

// Those of them that are registrations of this kind.
std::vector<SyntaxIndex> python_makers_of(const PythonSyntax& syntax, const PythonScopes& scopes,
                                          SyntaxIndex expression, PythonKind kind);

// Whether the program names something as JAX programs name primitives (`add_p`), and imports it.
bool is_imported_primitive(const PythonSyntax& syntax, const PythonScopes& scopes,
                           SyntaxIndex name);

}  // namespace opseal
