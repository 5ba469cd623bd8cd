#pragma once

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// How the body of a batching rule, `rule(operands, axes, …)`, uses the axes: `None` stands for an
// operand that isn't mapped. Sets `axes_use`, `axes_place` and `axes_returned`.
void read_axes(const PythonSyntax& syntax, const PythonScopes& scopes, const PythonFunction& rule,
               PythonRegistration& made);

}  // namespace opseal
