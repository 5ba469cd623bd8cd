#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/probe/derivative_plan.h"
#include "analyzers/probe/derivatives.h"

namespace opseal {

// What calls of kernels that compute derivatives are handed beside tangents and cotangents: what
// the operator itself was handed, and what it gave then. Made-up numbers in the place of a result
// may be ones that no call of the operator gives: a standard deviation below 0, places that are no
// permutation.
class SavedValues {
 public:
  struct Call {
    std::size_t subject = 0;
    // Null: nothing is stated in it.
    ffi::Question* question = nullptr;
    // Why it must not be made; empty: it can be.
    std::string skipped{};
  };

  // Needs: all outlive it. `usable`: whether a subject can be called.
  SavedValues(const std::vector<ProbeSubject>& subjects, const std::vector<bool>& usable,
              const DerivativeAsker& asker)
      : subjects_(subjects), planner_(subjects, usable), asker_(asker) {}

  // Calls the operators, and states in the calls what these were handed and gave. Calls of kernels
  // that are handed nothing of the kind stay as they are.
  void fill(std::vector<Call>& calls);

 private:
  // A kernel of the operator, and what its calls have to do with those of the derivative.
  struct Function {
    std::size_t subject = 0;
    CallChoices choices{};
    std::vector<CallOutput> outputs{};
    // Of each argument of the derivative.
    std::vector<DerivativeOperand> handed{};
  };

  struct Model {
    // Results of the operator are handed over.
    bool saves = false;
    std::string skipped{};
    Declaration own{};
    std::vector<Function> functions{};
  };

  // A call of an operator, and what needs it.
  struct Source {
    ValueCall call;
    std::vector<std::pair<Call*, const Function*>> users{};
  };

  const Model& model_of(std::size_t subject);
  Model read_model(std::size_t subject) const;
  Function read_function(std::size_t derivative, const Declaration& own, std::size_t kernel) const;
  // Empty: none gives what that call is handed, and why.
  std::optional<PlannedCall> function_call(const Declaration& own, const Function& function,
                                           const ffi::Question& question, std::string& why) const;
  // The first of them that does.
  std::pair<std::optional<PlannedCall>, const Function*> find_call(const Model& model,
                                                                   Call& call) const;
  void state(const Source& source) const;

  const std::vector<ProbeSubject>& subjects_;
  DerivativePlanner planner_;
  const DerivativeAsker& asker_;
  std::map<std::size_t, Model> models_;
};

}  // namespace opseal
