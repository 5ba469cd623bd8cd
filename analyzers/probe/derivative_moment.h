#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/probe/derivative_plan.h"
#include "analyzers/probe/derivatives.h"
#include "analyzers/probe/slope.h"

namespace opseal {

// 4 or 8 bytes; 0: not floating.
std::size_t floating_bytes(const ffi::QuestionOperand& operand);

// Derivatives of one case at one point, along some of its inputs. Calls are made in four rounds: at
// the point, at both sides of it, of the derivative, and, where a gradient differs and integers
// repeat, with each element moved by itself.
class DerivativeMoment {
 public:
  struct Along {
    std::size_t input = 0;
    MovedInput moved{};
    std::array<std::array<std::size_t, 2>, difference_steps.size()> sides{};
    // Of each output of the function; none: it has no derivative.
    std::vector<std::optional<Slope>> slopes{};
    std::vector<Reals> weights{};
    std::size_t derivative_call = 0;
    // That it gave, and the first call with one element moved.
    Reals gradient{};
    std::size_t element_calls = 0;
    // Of that call.
    double seconds = 0;
    // Not said: nothing came of it yet.
    std::optional<DerivativeVerdict> verdict{};
    // The kernel of the derivative didn't come to an end: how, and what it did beside its buffers.
    std::optional<ProbeResult> ended{};
  };

  // `repeat`: integers that may be indexes repeat. Needs: `one` outlives it.
  DerivativeMoment(const DerivativeCase& one, bool forward, std::uint64_t seed, bool repeat,
                   const std::vector<std::size_t>& inputs);

  const std::vector<Along>& along() const { return along_; }

  void ask_here(std::vector<ValueCall>& calls);
  void take_here(const std::vector<ValueCall>& calls);
  void ask_sides(std::vector<ValueCall>& calls);
  void take_sides(const std::vector<ValueCall>& calls);
  void ask_derivatives(std::vector<ValueCall>& calls);
  void take_derivatives(const std::vector<ValueCall>& calls);
  void ask_elements(std::vector<ValueCall>& calls);
  void take_elements(const std::vector<ValueCall>& calls);

 private:
  // Numbers that the function is handed.
  struct Numbers {
    // Floating ones; else of both signs.
    bool positive = false;
    // Integers that may be indexes: those that every extent has; else all 0.
    bool spread = false;
  };

  std::vector<Numbers> choices() const;
  void close(const std::string& reason);
  bool has_numbers(const ffi::Answer& answer) const;
  std::vector<std::string> make_inputs(const Numbers& numbers) const;
  std::size_t index_extent() const;
  bool has_repeated_indexes() const;
  bool may_be_overwritten(const Along& one) const;
  void add_function(const std::vector<std::string>& inputs, std::vector<ValueCall>& calls) const;
  void take_sides(Along& one, const std::vector<ValueCall>& calls) const;
  bool choose_weights(Along& one) const;
  std::string handed_bytes(const DerivativeOperand& handed, const ffi::QuestionOperand& operand,
                           const Along& one) const;
  DerivativeVerdict judge(Along& one, const ValueCall& call) const;
  DerivativeVerdict judge_repeated(const Along& one, const ValueCall& call) const;

  const DerivativeCase& case_;
  bool forward_;
  std::uint64_t seed_;
  bool repeat_;
  std::vector<Along> along_;
  // Number of the first call, one for each of the choices.
  std::size_t here_ = 0;
  // At the point.
  Numbers numbers_;
  std::vector<std::string> inputs_;
  ffi::Answer answer_;
};

}  // namespace opseal
