#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/probe/call_plan.h"
#include "analyzers/probe/derivative_operands.h"
#include "analyzers/probe/subjects.h"

namespace opseal {

// One call of a kernel that computes derivatives, and the call of the operator that it speaks of.
struct DerivativeCase {
  // Numbers of the subjects.
  std::size_t derivative = 0;
  std::size_t function = 0;
  PlannedCall derivative_call;
  PlannedCall function_call;
  // In sizes that nobody asks otherwise, so that nobody knows whether they are served.
  bool unasked = false;
  // What both leave, and the names of what the function is handed and leaves.
  std::vector<CallOutput> derivative_outputs;
  std::vector<CallOutput> function_outputs;
  std::vector<std::string> argument_names;
  std::vector<std::string> output_names;
  // Of what the derivative leaves.
  std::vector<std::string> given_names;
  // How far results of the two may be off, of their size, as they declare (`max_relative`).
  double relative = 0;
  // One for each argument of the derivative, and for each of its outputs.
  std::vector<DerivativeOperand> handed;
  std::vector<DerivativeOperand> given;
  // Arguments of the function along which derivatives are asked.
  std::vector<std::size_t> along;
  // Arguments without a derivative, on purpose.
  std::vector<std::size_t> excused;
};

struct DerivativePlan {
  // Tangents go in and come out; else cotangents.
  bool forward = false;
  std::vector<DerivativeCase> cases;
  // Why there are none, or not all of them.
  std::string skipped;
};

class DerivativePlanner {
 public:
  // `usable`: whether a subject can be called. Needs: both outlive it.
  DerivativePlanner(const std::vector<ProbeSubject>& subjects, const std::vector<bool>& usable);

  // The calls that show whether subject `at`, a kernel of such an operator, computes what its
  // manifest says: with each combination of dtypes of f32 and f64, in up to three sizes.
  DerivativePlan plan(std::size_t at) const;

  // Name of the operator whose derivatives subject `at` computes; empty: nobody says so.
  std::string function_of(std::size_t at) const;
  // Subjects that are kernels of the operator of that name: of the manifest of `at` first, and of
  // its backend; a number of them, where there are very many.
  std::vector<std::size_t> kernels_of(std::size_t at, std::string_view function) const;
  bool can_call(std::size_t at) const;
  // Some argument goes by a name that is none of its operator's inputs, or one that this writes: it
  // is handed what a call of that one left.
  bool is_handed_results(std::size_t at) const;

 private:
  const std::vector<ProbeSubject>& subjects_;
  const std::vector<bool>& usable_;
  // By the operator's name, with and without its namespace; and by that and the file.
  std::map<std::string, std::vector<std::size_t>, std::less<>> named_;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<std::size_t>> beside_;
  // Of each operator that is the `gradient` of another one: that one.
  std::map<std::string, std::string, std::less<>> gradients_;
};

}  // namespace opseal
