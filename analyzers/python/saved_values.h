#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// `ctx.save_for_backward(a, b)` in a class, and `a, b = ctx.saved_tensors` in its backward.
PythonSavedCounts python_saved_tensors(const PythonSyntax& syntax, SyntaxIndex definition,
                                       SyntaxIndex forward, SyntaxIndex backward);

// `return y, (a, b)` of the forward of a `custom_vjp`, and `a, b = residuals` in its backward.
PythonSavedCounts python_saved_residuals(const PythonSyntax& syntax, const PythonScopes& scopes,
                                         const PythonFunction& forward,
                                         const PythonFunction& backward);

}  // namespace opseal
