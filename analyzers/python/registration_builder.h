#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/bound_call.h"
#include "analyzers/python/constants.h"
#include "analyzers/python/owners.h"
#include "analyzers/python/registrations.h"
#include "analyzers/python/returns.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// Makes registrations of what stands in the text, in the rounds of the loops that are in force.
class PythonRegistrationBuilder {
 public:
  PythonRegistrationBuilder(const PythonSyntax& syntax, const PythonScopes& scopes,
                            PythonConstants& constants)
      : syntax_(syntax), scopes_(scopes), constants_(constants), returns_(syntax, scopes) {}

  // `call`: a call, or a decorator without one, in which case `arguments` is none. `definition`:
  // the function that it decorates, or none. `skipped` is as for `bind_call`.
  PythonRegistration from_call(const PythonCallee& callee, SyntaxIndex call, SyntaxIndex arguments,
                               SyntaxIndex definition, std::size_t skipped);
  // `primitive_jvps[primitive] = rule`.
  PythonRegistration from_table(const PythonTableForm& form, SyntaxIndex assignment);
  // A call of a primitive, or of its `bind`.
  PythonRegistration from_use(SyntaxIndex call, SyntaxIndex primitive);
  // `torch.ops.ns.name`, with or without an overload.
  PythonRegistration from_lookup(SyntaxIndex expression, std::string_view full_name);

 private:
  PythonRegistration start(PythonKind kind, SyntaxIndex index) const;
  void apply(PythonRegistration& made, const BoundArgument& argument);
  void set_name(PythonRegistration& made, PythonText name) const;
  void set_schema(PythonRegistration& made, PythonText schema) const;
  void set_library(PythonRegistration& made, SyntaxIndex library);
  void set_owner(PythonRegistration& made, const PythonCallee& callee);
  void set_object(PythonRegistration& made, SyntaxIndex object);
  void set_derived(PythonRegistration& made, SyntaxIndex owner);
  void infer_schema(PythonRegistration& made) const;
  void read_derivative_bodies(PythonRegistration& made);
  void read_bodies(PythonRegistration& made);
  void read_sequences(PythonRegistration& made);
  void read_multiple_results(PythonRegistration& made);
  bool says_results_of_others() const;
  void read_takers();
  void read_tangents(PythonRegistration& made, std::size_t place);
  bool adds_names(SyntaxIndex arguments) const;
  PythonText text_of(SyntaxIndex expression);
  PythonText joined_texts(SyntaxIndex expression);
  PythonArgument argument_of(const BoundArgument& argument);
  PythonPlace place_of(SyntaxIndex index) const;
  std::string excerpt(SyntaxIndex index) const;

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  PythonConstants& constants_;
  PythonReturns returns_;
  std::optional<bool> results_said_;
  // By the name of a primitive, what is called with it.
  std::map<std::string_view, std::set<std::string>> takers_;
  bool takers_read_ = false;
};

}  // namespace opseal
