#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace opseal {

// Derivatives of a function by differences, and what rules give, held against them. The figures are
// those of operators that a framework calls (python/probe_derivatives.py).

using Reals = std::vector<double>;

// Steps, as parts of the first one: no period fits all of them, and where a difference depends on
// the step it is no derivative.
inline constexpr std::array<double, 3> difference_steps{1.0, 0.37, 0.137};

// The first step. `wide`: of an input of 64-bit numbers, else of 32 bits.
double first_step(bool wide);

// What a function gives at both sides of a point.
struct Sides {
  Reals low;
  Reals high;
};

// The differences of one result along a direction. All lists have one element for each of the
// result.
class Slope {
 public:
  // `here`: the result at the point; `sides`: for each of the steps.
  Slope(bool wide, Reals here, const std::array<Sides, difference_steps.size()>& sides);

  const Reals& here() const { return here_; }
  const Reals& value() const { return value_; }
  // By how much the value may be off because the function turns, or rounds inside; and, of each
  // element by itself, because its results are rounded.
  const Reals& unsure() const { return unsure_; }
  double noise() const { return noise_; }
  // The function is smooth there, as far as can be seen; and it changes.
  bool is_useful(std::size_t element) const { return useful_[element]; }
  bool is_told(std::size_t element) const { return useful_[element] && !flat_[element]; }
  // A rule has to give this value: it changes, or much beside it does. Where hardly anything
  // changes, what a rule says of the rest is a choice (a surrogate gradient).
  bool is_judged(std::size_t element) const {
    return useful_[element] && (!flat_[element] || mixed_);
  }
  // The largest useful value, without sign.
  double scale() const { return scale_; }
  bool any_useful() const;
  bool any_told() const;
  // Rounding is so coarse beside the steps that another function might be meant.
  bool left_open() const;

 private:
  Reals here_;
  Reals value_;
  Reals unsure_;
  std::vector<bool> useful_;
  std::vector<bool> flat_;
  bool mixed_ = false;
  double noise_ = 0;
  double scale_ = 0;
};

// What one check of one input came to.
struct DerivativeVerdict {
  // `passed`, `differs`, `skipped`
  std::string status;
  std::string expected;
  std::string seen;
  std::string reason;
  // Element that deviates; -1: no single one.
  std::int64_t index = -1;
  // The result that differs is no derivative: which.
  std::string repeated;
};

// One input of a function that is moved along a direction.
struct MovedInput {
  bool wide = false;
  // How far the kernels' results may be off, of their size, as they declare.
  double relative = 0;
  Reals values;
  Reals direction;
};

// What a rule gives for one result. `slope` may be null: the result has no derivative.
struct RuleTangent {
  const Slope* slope = nullptr;
  // `y`
  std::string name;
  Reals tangent;
};

// A JVP, against the differences.
DerivativeVerdict judge_tangents(const MovedInput& input, const std::vector<RuleTangent>& results);

// What a result is weighted with in <J v, w>: 0 where a difference says nothing.
struct Weighted {
  const Slope* slope = nullptr;
  Reals weights;
};

// The gradient `name` (`dx`), by <J v, w> = <v, Jt w>, with J v from differences.
DerivativeVerdict judge_gradient(const MovedInput& input, const std::vector<Weighted>& results,
                                 const std::string& name, const Reals& gradient);

// A result that a rule gives beside derivatives, `name`, without backquotes, against what the
// function itself gives. They may be apart by half of the digits, and by `relative` of the largest.
DerivativeVerdict judge_repeated(bool wide, double relative, const std::string& name,
                                 const Reals& expected, const Reals& seen);

DerivativeVerdict skipped_derivative(std::string reason);

}  // namespace opseal
