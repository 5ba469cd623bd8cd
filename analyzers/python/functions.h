#pragma once

#include "analyzers/python/constants.h"
#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// What is known of a function that stands as an argument: a name that is defined once in the file,
// a lambda, or either within `functools.partial`.
PythonFunction python_function(const PythonSyntax& syntax, const PythonScopes& scopes,
                               PythonConstants& constants, SyntaxIndex expression);

// The same of a `def`, for which `place` is that of its name.
PythonFunction python_definition(const PythonSyntax& syntax, SyntaxIndex definition);

// The schema that torch infers from the annotations of a custom operator's function, without its
// name: `(Tensor x, SymInt n=1) -> Tensor`. Empty where an annotation is missing, or one that isn't
// known here. `mutated`: names of parameters, or `unknown`.
// The source is `torch/_library/infer_schema.py`.
std::string inferred_torch_schema(const PythonFunction& function,
                                  const std::vector<std::string>& mutated);

}  // namespace opseal
