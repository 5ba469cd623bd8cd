#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/source/tokens.h"

namespace opseal {

enum class StatementKind : std::uint8_t {
  expression,  // also a declaration, and what is not understood
  block,
  returns,
  breaks,
  continues,
  throws,
  // `body` has the statement, `otherwise` that of `else`.
  if_,
  // `body` has what stands in the braces, labels as statements of their own.
  switch_,
  // `for`, `while`: `tokens` is what stands in the brackets.
  loop,
  do_loop,
  // `tokens` is the value.
  case_label,
  default_label,
  // Marks of conditionals, see branches.h.
  branch_if,
  branch_else,
  branch_end,
};

// A statement of a function. No recursion of a reader goes deeper than `most_statement_depth`:
// deeper ones are expressions.
struct Statement {
  StatementKind kind = StatementKind::expression;
  // Of what is evaluated: the condition of `if`, the value of `return`.
  TokenRange tokens;
  std::vector<Statement> body;
  std::vector<Statement> otherwise;
};

constexpr unsigned most_statement_depth = 100;

// Needs: `partners` are those of the tokens (`match_brackets`).
std::vector<Statement> read_statements(Tokens tokens, const std::vector<std::uint32_t>& partners,
                                       TokenRange body);

}  // namespace opseal
