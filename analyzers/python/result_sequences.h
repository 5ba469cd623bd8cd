#pragma once

#include <cstdint>
#include <string_view>

#include "analyzers/python/registrations.h"
#include "analyzers/python/returns.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// What a rule of a primitive hands back.
enum class PythonRuleShape : std::uint8_t {
  // Results and their tangents, or results and their axes.
  pair,
  // The tangents of the results, for one operand.
  tangents,
};

// Whether what a rule hands back for the results of its primitive are sequences: by all of its
// `return`s, or one value by each that tells. `primitive`: as the rule's file writes it; what its
// `bind` gives is taken to be a sequence. `leading`: parameters before the operands.
PythonSequence python_result_sequences(const PythonSyntax& syntax, const PythonScopes& scopes,
                                       PythonReturns& returns, const PythonFunction& rule,
                                       std::string_view primitive, PythonRuleShape shape,
                                       std::size_t leading);

}  // namespace opseal
