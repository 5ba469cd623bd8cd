#pragma once

#include <string_view>
#include <vector>

#include "analyzers/python/call_forms.h"
#include "analyzers/python/syntax.h"

namespace opseal {

struct BoundArgument {
  // Of the parameter; empty for one beyond those that are known.
  std::string_view keyword;
  // As `PythonCallForm::parameters` has it; empty for an argument that is only kept.
  std::string_view role;
  SyntaxIndex value = no_syntax;
};

struct BoundCall {
  std::vector<BoundArgument> arguments;
  // `*args` or `**kwargs`: whatever isn't said may still be there.
  bool open_ended = false;

  // The first value in a role, or none.
  SyntaxIndex in(std::string_view role) const;
};

// Gives the arguments of a call the parameters of a form. `skipped`: positional ones in front that
// are not the callee's (the function that `functools.partial` binds).
BoundCall bind_call(const PythonSyntax& syntax, SyntaxIndex arguments, std::string_view parameters,
                    std::size_t skipped = 0);

}  // namespace opseal
