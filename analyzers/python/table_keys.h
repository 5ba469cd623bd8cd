#pragma once

#include <string>
#include <vector>

#include "analyzers/python/constants.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"
#include "analyzers/python/tables.h"

namespace opseal {

// The parts of a key where it is written out: those of a tuple, or the one of anything else.
std::vector<PythonKeyValue> python_key(const PythonSyntax& syntax, const PythonScopes& scopes,
                                       PythonConstants& constants, SyntaxIndex expression);
PythonKeyValue python_key_value(const PythonSyntax& syntax, const PythonScopes& scopes,
                                PythonConstants& constants, SyntaxIndex expression);
bool is_decided(const std::vector<PythonKeyValue>& key);

// The names of a function's parameters, with their defaults; `self` and `cls` are left out where
// the function is a method. False where it takes `*args` or `**kwargs`.
bool table_parameters(const PythonSyntax& syntax, const PythonScopes& scopes,
                      PythonConstants& constants, SyntaxIndex function, bool method,
                      std::vector<PythonTableParameter>& parameters);

// Adds the parts of a key within `function`, made of its parameters and constants. False for
// anything else.
bool add_key_parts(const PythonSyntax& syntax, const PythonScopes& scopes,
                   PythonConstants& constants, SyntaxIndex function,
                   const std::vector<PythonTableParameter>& parameters, SyntaxIndex expression,
                   std::vector<PythonTableKeyPart>& parts);

}  // namespace opseal
