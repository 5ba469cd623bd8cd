#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// The parameters of a kernel that choose between shapes, or dtypes, of a tensor that it makes and
// hands back: `y = empty((m, b, n)) if flag else empty((b, m, n))`, in any of the forms of a
// choice. Sorted.
std::vector<std::string> python_shape_choices(const PythonSyntax& syntax,
                                              const PythonScopes& scopes,
                                              const PythonFunction& function);

// The number of dimensions of each tensor that a function hands back, where every `return` says the
// same: of those that it makes by a shape that is written out, and what has the same dimensions, or
// as many as are written out (`y.view(m, n)`).
std::vector<std::optional<std::uint32_t>> python_result_ranks(const PythonSyntax& syntax,
                                                              const PythonScopes& scopes,
                                                              const PythonFunction& function);

// Sets `reads`: the parameters that the body names, and `x.dtype` behind them for those whose dtype
// it gives to something. Not known where it may ask for them otherwise.
void read_parameter_reads(const PythonSyntax& syntax, PythonFunction& function);

}  // namespace opseal
