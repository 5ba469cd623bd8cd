#pragma once

#include <string>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// The parameters, annotated as tensors or not at all, whose memory the body of a function surely
// writes to if it gets there: `x[…] = …`, `x += …`, `x.copy_(…)`, `torch.add(a, b, out=x)`. From
// the place on where a parameter's name is given to something else, nothing is said of it; nor is
// what other functions do with it.
std::vector<std::string> python_writes(const PythonSyntax& syntax, const PythonScopes& scopes,
                                       const PythonFunction& function);

}  // namespace opseal
