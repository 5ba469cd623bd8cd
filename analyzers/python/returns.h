#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// How many values the `return`s of functions hand back, as far as their texts alone say.
class PythonReturns {
 public:
  // Needs: both outlive this.
  PythonReturns(const PythonSyntax& syntax, const PythonScopes& scopes)
      : syntax_(syntax), scopes_(scopes) {}

  // Every one that the text tells, in order; of a lambda its only one. `lists`: a list counts as a
  // tuple does. `calls`: also those that hand on what a call gives, with its name and no count.
  std::vector<PythonReturn> of(SyntaxIndex function, bool lists, bool calls = false);
  // Of a function of JAX: a list is as good as a tuple, and functions of `jax.numpy` give arrays.
  std::vector<PythonReturn> of_jax(SyntaxIndex function);

  // Surely one array.
  bool is_array(SyntaxIndex expression) const { return is_array(expression, 0); }

  // One `None`, of a function that computes gradients, names them, and ends without a `return`. It
  // may be meant to be never called where it does nothing.
  std::optional<PythonReturn> end_of(SyntaxIndex function) const;

 private:
  template <typename Read>
  std::vector<PythonReturn> each(SyntaxIndex function, const Read& read);
  // False: what stands before it in its block, or in one around it, always leaves.
  bool is_reached(SyntaxIndex statement, SyntaxIndex body);
  std::optional<PythonReturn> read_return(SyntaxIndex expression, bool lists, bool calls) const;
  std::optional<PythonReturn> read_jax_return(SyntaxIndex expression, SyntaxIndex function) const;
  bool is_array(SyntaxIndex expression, std::size_t depth) const;
  std::optional<PythonReturn> read_values(SyntaxIndex expression, std::size_t depth) const;
  std::optional<PythonReturn> read_operation(SyntaxIndex operation, std::size_t depth) const;
  std::optional<PythonReturn> read_name(SyntaxIndex name, std::size_t depth) const;
  bool is_single(SyntaxIndex expression, std::size_t depth) const;
  bool is_plain_parameter(SyntaxIndex expression) const;

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  // Parts of the functions of a file that were looked at: one may have many names.
  std::size_t steps_ = 0;
  // Tuples that were read: names may lead to names, each several times.
  mutable std::size_t values_ = 0;
};

}  // namespace opseal
