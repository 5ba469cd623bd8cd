#pragma once

#include <string>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// What in the body of a JVP rule is bound with a value that comes from a tangent, as written:
// `mul_p` of `mul_p.bind(dx, y)`. `place`: which parameter is the tangent, or the list of them.
std::vector<SyntaxIndex> python_tangent_uses(const PythonSyntax& syntax, const PythonFunction& rule,
                                             std::size_t place);

}  // namespace opseal
