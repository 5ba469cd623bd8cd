#pragma once

#include "analyzers/python/constants.h"
#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// The call of what a call returns, `f(…)(x, n=1)`, where one follows; or the one call of the
// variable that keeps it.
PythonCall python_call_of(const PythonSyntax& syntax, const PythonScopes& scopes,
                          PythonConstants& constants, SyntaxIndex call);

}  // namespace opseal
