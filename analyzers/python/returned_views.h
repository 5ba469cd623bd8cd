#pragma once

#include <string>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// The parameters of a function that some `return` of its body hands back, as they are or as a view
// that is never a copy: `x`, `x[0]`, `x.view(…)`, `torch.narrow(x, …)`, also through names. What
// may be a copy (`reshape`, `contiguous`, a branch that replaces the name) is none. Parameters that
// are annotated as anything but a tensor are left out.
std::vector<std::string> python_returned_views(const PythonSyntax& syntax,
                                               const PythonScopes& scopes,
                                               const PythonFunction& function);

}  // namespace opseal
