#pragma once

#include <string>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// The dtypes of the tensors that a function hands back, where every `return` says the same: `f16`,
// or `$x` for that of the parameter `x`; `?` for what the text doesn't tell.
std::vector<std::string> python_result_dtypes(const PythonSyntax& syntax,
                                              const PythonScopes& scopes,
                                              const PythonFunction& function);

}  // namespace opseal
