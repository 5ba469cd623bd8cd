// Derivatives by differences, and what rules give, held against them: analyzers/probe/slope.h.

#include "analyzers/probe/slope.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>

namespace opseal::test {
namespace {

using Function = std::function<double(double)>;

// Elements 0.3, 0.4 and so on, each moved by a number of its own.
MovedInput input_of(bool wide, std::size_t size) {
  MovedInput input;
  input.wide = wide;
  for (std::size_t at = 0; at < size; ++at) {
    input.values.push_back(0.3 + 0.1 * static_cast<double>(at));
    input.direction.push_back(at % 2 == 0 ? 0.75 : -0.5);
  }
  return input;
}

Slope slope_of(const MovedInput& input, const Function& function) {
  const auto results = [&](double distance) {
    Reals values;
    for (std::size_t at = 0; at < input.values.size(); ++at) {
      values.push_back(function(input.values[at] + distance * input.direction[at]));
    }
    return values;
  };
  std::array<Sides, difference_steps.size()> sides;
  for (std::size_t step = 0; step < sides.size(); ++step) {
    const double distance = first_step(input.wide) * difference_steps[step];
    sides[step] = {results(-distance), results(distance)};
  }
  return {input.wide, results(0), sides};
}

// What the rule `derivative` of the function makes of the direction.
DerivativeVerdict judge(const MovedInput& input, const Function& function,
                        const Function& derivative) {
  const Slope slope = slope_of(input, function);
  Reals tangent;
  for (std::size_t at = 0; at < input.values.size(); ++at) {
    tangent.push_back(derivative(input.values[at]) * input.direction[at]);
  }
  return judge_tangents(input, {{&slope, "`y`", tangent}});
}

double square(double x) { return x * x; }
double twice(double x) { return 2 * x; }
double zero(double) { return 0; }
double one(double) { return 1; }

}  // namespace

TEST_CASE("slope: a rule is held against differences, element by element") {
  for (const bool wide : {false, true}) {
    const MovedInput input = input_of(wide, 5);
    CHECK(judge(input, square, twice).status == "passed");
    const DerivativeVerdict wrong = judge(input, square, [](double x) { return x; });
    CHECK(wrong.status == "differs");
    CHECK(wrong.index == 0);
    CHECK(wrong.seen.find("at element 0 of the tangent of `y`") != std::string::npos);
    CHECK(judge(input, square, zero).status == "differs");
    CHECK(judge(input, square, [](double) { return NAN; }).status == "differs");
  }
}

TEST_CASE("slope: what can't be told is skipped, with the reason") {
  const MovedInput input = input_of(true, 5);
  CHECK(judge(
            input, [](double x) { return x > 0 ? 1.0 : 0.0; }, one)
            .reason == "the function does not change here, and its rule moves it: by choice");
  // Turns within the steps.
  CHECK(!slope_of(input, [](double x) { return std::sin(1234567.8 * x); }).any_useful());
  // Numbers of 32 bits, as inside of a kernel, are too coarse for these steps.
  const Function coarse = [](double x) {
    return static_cast<double>(static_cast<float>(1000 + 0.01 * x));
  };
  CHECK(judge(input, coarse, [](double) { return 0.02; }).status == "skipped");
  // A rounded value, with the derivative of what it rounds.
  const Function rounded = [](double x) { return std::round(x * 1024) / 1024; };
  CHECK(judge(input_of(false, 5), rounded, one).status != "differs");
}

TEST_CASE("slope: places that don't change are judged where enough others do") {
  const MovedInput input = input_of(true, 8);
  const Function relu = [](double x) { return std::fmax(x - 0.55, 0.0); };
  CHECK(judge(input, relu, [](double x) { return x > 0.55 ? 1.0 : 0.0; }).status == "passed");
  CHECK(judge(input, relu, one).status == "differs");
  const Function rare = [](double x) { return std::fmax(x - 0.95, 0.0); };
  CHECK(judge(input, rare, one).status == "passed");
}

TEST_CASE("slope: a gradient is held against differences, by inner products") {
  const MovedInput input = input_of(true, 5);
  const Slope slope = slope_of(input, square);
  const Reals weights{1, -0.5, 0.75, 0.25, -1};
  Reals gradient;
  for (std::size_t at = 0; at < 5; ++at) gradient.push_back(2 * input.values[at] * weights[at]);
  CHECK(judge_gradient(input, {{&slope, weights}}, "`dx`", gradient).status == "passed");
  gradient[2] *= 1.5;
  CHECK(judge_gradient(input, {{&slope, weights}}, "`dx`", gradient).status == "differs");
  const DerivativeVerdict none = judge_gradient(input, {{&slope, weights}}, "`dx`", Reals(5, 0.0));
  CHECK(none.seen.find("of `dx`, which is all 0") != std::string::npos);
  gradient[3] = NAN;
  CHECK(
      judge_gradient(input, {{&slope, weights}}, "`dx`", gradient).seen.find("nan at element 3") !=
      std::string::npos);
}

TEST_CASE("slope: a repeated result may be off by half of its digits") {
  CHECK(judge_repeated(true, 0, "y", {1, 2, 3}, {1, 2 + 1e-9, 3}).status == "passed");
  CHECK(judge_repeated(true, 0, "y", {1, 2, 3}, {1, 2.1, 3}).status == "differs");
  CHECK(judge_repeated(true, 0.05, "y", {1, 2, 3}, {1, 2.1, 3}).status == "passed");
  CHECK(judge_repeated(false, 0, "y", {1}, {NAN}).repeated == "y");
  CHECK(judge_repeated(false, 0, "y", {NAN}, {1}).status == "passed");
}

}  // namespace opseal::test
