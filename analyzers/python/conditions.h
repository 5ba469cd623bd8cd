#pragma once

#include <string>
#include <vector>

#include "analyzers/python/syntax.h"

namespace opseal {

// Under which conditions a node's statement runs, from the outside in, as written: `if`, `elif`,
// `else`, `while`, `try` and its handlers, `match`; those outside of the function that it stands in
// included. At most `max_conditions`, the inner ones.
std::vector<std::string> python_conditions(const PythonSyntax& syntax, SyntaxIndex index);

// The functions and classes around a node, dotted: `Class.method`; empty for the module itself.
std::string python_within(const PythonSyntax& syntax, SyntaxIndex index);

// Whether the nearest `try` around a node in its function catches every exception and does nothing.
bool swallows_exceptions(const PythonSyntax& syntax, SyntaxIndex index);

inline constexpr std::size_t max_conditions = 16;

}  // namespace opseal
