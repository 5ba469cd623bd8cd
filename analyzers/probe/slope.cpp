#include "analyzers/probe/slope.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace opseal {
namespace {

// Rounding within a function, in units of the last place of its results, and of numbers around 1.
constexpr double rounded_results = 64;
constexpr double rounded_inside = 4;

double epsilon(bool wide) {
  return wide ? std::numeric_limits<double>::epsilon()
              : double{std::numeric_limits<float>::epsilon()};
}

// How far a rule may be off a difference, of the largest number.
double allowance(const MovedInput& input) {
  return std::max(input.wide ? 1e-5 : 2e-2, 2 * input.relative);
}

// Where what rounding hides is more than this part of a derivative, it is left open.
constexpr double hidden = 0.25;

constexpr const char* open_reason = "rounding leaves open what its derivative is";

double largest(const Reals& values) {
  double most = 0;
  for (const double value : values) {
    if (std::isfinite(value)) most = std::max(most, std::fabs(value));
  }
  return most;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  // 0 has no sign in a report.
  std::snprintf(text, sizeof text, "%.6g", value + 0.0);
  return text;
}

// A rule hands on what it was given, and the result is the input, rounded: by choice.
bool is_straight(const MovedInput& input, const Slope& slope, const Reals& tangent,
                 const Reals& passed) {
  const Reals& here = slope.here();
  if (tangent.size() != passed.size() || here.size() != input.values.size()) return false;
  for (std::size_t at = 0; at < tangent.size(); ++at) {
    if (!(std::fabs(tangent[at] - passed[at]) <= 1e-6 * std::fabs(passed[at]))) return false;
  }
  const double near = 0.1 * largest(input.values);
  for (std::size_t at = 0; at < here.size(); ++at) {
    if (!(std::fabs(here[at] - input.values[at]) <= near)) return false;
  }
  return true;
}

}  // namespace

double first_step(bool wide) { return wide ? 1e-5 : 1e-2; }

Slope::Slope(bool wide, Reals here, const std::array<Sides, difference_steps.size()>& sides)
    : here_(std::move(here)) {
  constexpr std::size_t count = difference_steps.size();
  // A difference of rounded values says nothing of less than this.
  const double rounded = epsilon(wide) * (rounded_results * largest(here_) + rounded_inside);
  std::array<double, count> steps{};
  std::array<double, count> noise{};
  for (std::size_t at = 0; at < count; ++at) {
    steps[at] = first_step(wide) * difference_steps[at];
    noise[at] = rounded / steps[at];
  }
  const std::size_t size = here_.size();
  useful_.resize(size);
  flat_.resize(size);
  Reals apart(size);
  std::size_t changing = 0;
  std::size_t lost = 0;
  for (std::size_t element = 0; element < size; ++element) {
    std::array<double, count> central{};
    std::array<double, count> bends{};
    bool flat = true;
    for (std::size_t at = 0; at < count; ++at) {
      const double low = sides[at].low[element];
      const double high = sides[at].high[element];
      central[at] = (high - low) / (2 * steps[at]);
      bends[at] = std::fabs(high - 2 * here_[element] + low) / steps[at];
      flat = flat && low == here_[element] && high == here_[element];
    }
    // Where a step or a kink is near, or the function turns within the steps.
    bool agrees = true;
    for (std::size_t at = 0; at + 1 < count; ++at) {
      agrees = agrees && std::fabs(central[at] - central[at + 1]) <=
                             0.05 * std::fabs(central[at + 1]) + 2 * noise[at + 1];
    }
    const bool kink = bends[2] > 4 * noise[2] && bends[2] > 0.5 * bends[0];
    // Where nothing changes, a rule that says otherwise is a choice (a surrogate gradient).
    flat_[element] = flat;
    value_.push_back(central[1]);
    useful_[element] = std::isfinite(central[1]) && agrees && !kink;
    const bool changes = std::isfinite(central[1]) && !flat;
    changing += changes ? 1 : 0;
    lost += changes && !useful_[element] ? 1 : 0;
    const double difference = std::fabs(central[0] - central[1]);
    apart[element] = std::isfinite(difference) ? difference : 0;
  }
  // What agrees here and there of a function that turns everywhere does so by chance.
  if (4 * lost > changing) {
    for (std::size_t element = 0; element < size; ++element) {
      useful_[element] = useful_[element] && flat_[element];
    }
  }
  // Rounding inside, to fewer digits than the result has, shows in all elements together.
  double squares = 0;
  std::size_t told = 0;
  for (std::size_t element = 0; element < size; ++element) {
    if (useful_[element]) scale_ = std::max(scale_, std::fabs(value_[element]));
    if (!is_told(element)) continue;
    squares += apart[element] * apart[element];
    ++told;
  }
  const double spread = told == 0 ? 0 : std::sqrt(squares / static_cast<double>(told));
  const auto usable = static_cast<std::size_t>(std::count(useful_.begin(), useful_.end(), true));
  mixed_ = 4 * told >= usable;
  noise_ = noise[1];
  for (const double one : apart) unsure_.push_back(one + 2 * spread);
}

bool Slope::any_useful() const {
  return std::find(useful_.begin(), useful_.end(), true) != useful_.end();
}

bool Slope::any_told() const {
  for (std::size_t element = 0; element < here_.size(); ++element) {
    if (is_told(element)) return true;
  }
  return false;
}

bool Slope::left_open() const {
  for (std::size_t element = 0; element < here_.size(); ++element) {
    if (is_told(element) && unsure_[element] + noise_ <= hidden * scale_) return false;
  }
  return true;
}

DerivativeVerdict skipped_derivative(std::string reason) {
  DerivativeVerdict verdict;
  verdict.status = "skipped";
  verdict.reason = std::move(reason);
  return verdict;
}

DerivativeVerdict judge_tangents(const MovedInput& input, const std::vector<RuleTangent>& results) {
  bool moves = false;
  bool changes = false;
  bool told = false;
  bool open = true;
  for (const RuleTangent& result : results) {
    if (result.slope == nullptr) continue;
    open = open && result.slope->left_open();
    changes = changes || result.slope->scale() > 0;
    told = told || result.slope->any_told();
    for (std::size_t at = 0; at < result.tangent.size(); ++at) {
      moves = moves || (result.slope->is_useful(at) && result.tangent[at] != 0);
    }
  }
  if (moves && !changes) {
    return skipped_derivative(
        "the function does not change here, and its rule moves it: by choice");
  }
  if (!told && (moves || changes)) {
    return skipped_derivative("the function does not change at any smooth point");
  }
  if (told && open) return skipped_derivative(open_reason);
  for (const RuleTangent& result : results) {
    if (result.slope == nullptr) continue;
    const Slope& slope = *result.slope;
    if (slope.any_told() && slope.left_open()) continue;
    double size = slope.scale();
    for (std::size_t at = 0; at < result.tangent.size(); ++at) {
      if (slope.is_useful(at) && std::isfinite(result.tangent[at])) {
        size = std::max(size, std::fabs(result.tangent[at]));
      }
    }
    for (std::size_t at = 0; at < result.tangent.size(); ++at) {
      const double distance = std::fabs(result.tangent[at] - slope.value()[at]);
      const double bound = allowance(input) * size + slope.unsure()[at] + slope.noise();
      const bool near = std::isfinite(distance) && distance <= bound;
      if (near || !slope.is_judged(at)) continue;
      if (is_straight(input, slope, result.tangent, input.direction)) {
        return skipped_derivative("its tangent is that of what it rounds, by choice");
      }
      DerivativeVerdict verdict;
      verdict.status = "differs";
      verdict.expected = number_text(slope.value()[at]) + ", by differences";
      verdict.seen = number_text(result.tangent[at]) + " at element " + std::to_string(at) +
                     " of the tangent of " + result.name;
      verdict.index = static_cast<std::int64_t>(at);
      return verdict;
    }
  }
  DerivativeVerdict verdict;
  verdict.status = "passed";
  return verdict;
}

namespace {

// "all 0", "nan at element 3"; empty: it has ordinary numbers.
std::string what_of(const Reals& gradient) {
  for (std::size_t at = 0; at < gradient.size(); ++at) {
    if (std::isfinite(gradient[at])) continue;
    return number_text(gradient[at]) + " at element " + std::to_string(at);
  }
  const bool none =
      std::all_of(gradient.begin(), gradient.end(), [](double value) { return value == 0; });
  return none ? "all 0" : "";
}

}  // namespace

DerivativeVerdict judge_gradient(const MovedInput& input, const std::vector<Weighted>& results,
                                 const std::string& name, const Reals& gradient) {
  double forward = 0;
  double backward = 0;
  double size = 0;
  double squares = 0;
  double unsure = 0;
  // Rounding of one element says nothing of that of another one.
  double noise = 0;
  bool finite = true;
  for (const Weighted& result : results) {
    if (result.slope == nullptr) continue;
    for (std::size_t at = 0; at < result.weights.size(); ++at) {
      finite = finite && std::isfinite(result.slope->here()[at]);
      if (result.weights[at] == 0) continue;
      const double product = result.slope->value()[at] * result.weights[at];
      forward += product;
      size += std::fabs(product);
      squares += product * product;
      unsure += result.slope->unsure()[at] * std::fabs(result.weights[at]);
      noise += std::pow(result.slope->noise() * result.weights[at], 2);
    }
  }
  const double true_size = std::min(size, 3 * std::sqrt(squares));
  for (std::size_t at = 0; at < gradient.size(); ++at) {
    const double product = gradient[at] * input.direction[at];
    backward += product;
    size += std::fabs(product);
    squares += product * product;
  }
  // Beside results that are no numbers, gradients may be none either.
  if (!std::isfinite(forward) || (!std::isfinite(size) && !finite)) {
    return skipped_derivative("derivatives are no numbers");
  }
  if (unsure + std::sqrt(noise) > hidden * true_size) return skipped_derivative(open_reason);
  DerivativeVerdict verdict;
  verdict.status = "passed";
  // Directions and weights have signs at random, so that what each is off doesn't add up.
  size = std::min(size, 3 * std::sqrt(squares));
  const double bound = allowance(input) * size + unsure + std::sqrt(noise);
  if (std::isfinite(size) && std::fabs(forward - backward) <= bound) return verdict;
  for (const Weighted& result : results) {
    if (result.slope != nullptr && is_straight(input, *result.slope, gradient, result.weights)) {
      return skipped_derivative("its gradient is that of what it rounds, by choice");
    }
  }
  verdict.status = "differs";
  verdict.expected = "<J v, w> = " + number_text(forward) + " by differences";
  verdict.seen = "<v, Jt w> = " + number_text(backward) + " of " + name;
  const std::string what = what_of(gradient);
  if (!what.empty()) verdict.seen += ", which is " + what;
  return verdict;
}

DerivativeVerdict judge_repeated(bool wide, double relative, const std::string& name,
                                 const Reals& expected, const Reals& seen) {
  DerivativeVerdict verdict;
  verdict.status = "passed";
  const double bound =
      (std::sqrt(epsilon(wide)) + 2 * relative) * largest(expected) + 32 * epsilon(wide);
  for (std::size_t at = 0; at < std::min(expected.size(), seen.size()); ++at) {
    const double distance = std::fabs(expected[at] - seen[at]);
    // Beside what is no number, the other may be any.
    if (!std::isfinite(expected[at]) || distance <= bound) continue;
    verdict.status = "differs";
    verdict.expected = number_text(expected[at]);
    verdict.seen = number_text(seen[at]) + " at element " + std::to_string(at);
    verdict.repeated = name;
    verdict.index = static_cast<std::int64_t>(at);
    break;
  }
  return verdict;
}

}  // namespace opseal
