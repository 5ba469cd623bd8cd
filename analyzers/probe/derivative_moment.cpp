#include "analyzers/probe/derivative_moment.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "analyzers/probe/values.h"

namespace opseal {
namespace {

using Role = DerivativeOperand::Role;

const ffi::QuestionOperand& operand_of(const ffi::Question& question, const CallOutput& output) {
  return output.argument ? question.arguments[output.number] : question.results[output.number];
}

const ffi::DtypeInfo& dtype_of(const ffi::QuestionOperand& operand) {
  static constexpr ffi::DtypeInfo none{};
  const ffi::DtypeInfo* dtype = ffi::find_dtype_number(operand.dtype);
  return dtype == nullptr ? none : *dtype;
}

std::size_t elements_of(const ffi::QuestionOperand& operand) {
  std::size_t elements = 1;
  for (const std::int64_t extent : operand.dims) elements *= static_cast<std::size_t>(extent);
  return elements;
}

std::span<unsigned char> writable(std::string& text) {
  return {reinterpret_cast<unsigned char*>(text.data()), text.size()};
}

std::string to_bytes(const Reals& values, const ffi::QuestionOperand& operand) {
  const ffi::DtypeInfo& dtype = dtype_of(operand);
  std::string bytes(values.size() * dtype.bytes, '\0');
  for (std::size_t at = 0; at < values.size(); ++at) {
    put_value(writable(bytes), dtype, at, values[at]);
  }
  return bytes;
}

Reals to_reals(const std::string& bytes, const ffi::QuestionOperand& operand) {
  const ffi::DtypeInfo& dtype = dtype_of(operand);
  const std::span<const unsigned char> span(reinterpret_cast<const unsigned char*>(bytes.data()),
                                            bytes.size());
  Reals values(dtype.bytes == 0 ? 0 : bytes.size() / dtype.bytes);
  for (std::size_t at = 0; at < values.size(); ++at) {
    values[at] = value_at(span, dtype, at).value_or(0);
  }
  return values;
}

// Away from 0, where many functions have a kink or a pole.
double number_at(std::uint64_t seed, std::size_t at, bool positive) {
  const double unit = unit_number(seed, 2 * at);
  if (positive) return 0.2 + 0.7 * unit;
  return (0.2 + 1.6 * unit) * (unit_number(seed, 2 * at + 1) < 0.5 ? -1 : 1);
}

Reals make_direction(std::uint64_t seed, std::size_t count) {
  Reals values(count);
  for (std::size_t at = 0; at < count; ++at) {
    const double unit = unit_number(seed, 2 * at);
    values[at] = (0.5 + 0.5 * unit) * (unit_number(seed, 2 * at + 1) < 0.5 ? -1 : 1);
  }
  return values;
}

// Values that may be that far off, of their size, say nothing of a slope.
constexpr double coarse = 1e-3;

// Of matrices, and not the same everywhere.
bool is_symmetric(const Reals& gradient, const std::vector<std::int64_t>& dims) {
  if (dims.size() < 2 || dims.back() != dims[dims.size() - 2] || dims.back() < 2) return false;
  const auto n = static_cast<std::size_t>(dims.back());
  double largest = 0;
  for (const double value : gradient) largest = std::max(largest, std::fabs(value));
  bool differs = false;
  for (std::size_t at = 0; at < gradient.size(); ++at) {
    const std::size_t row = at / n % n;
    const std::size_t twin = at - row * n - at % n + at % n * n + row;
    if (!(std::fabs(gradient[at] - gradient[twin]) <= 1e-5 * largest)) return false;
    differs = differs || std::fabs(gradient[at] - gradient[0]) > 1e-5 * largest;
  }
  return differs;
}

}  // namespace

std::size_t floating_bytes(const ffi::QuestionOperand& operand) {
  const std::string_view name = dtype_of(operand).name;
  return name == "F32" ? 4 : name == "F64" ? 8 : 0;
}

DerivativeMoment::DerivativeMoment(const DerivativeCase& one, bool forward, std::uint64_t seed,
                                   bool repeat, const std::vector<std::size_t>& inputs)
    : case_(one), forward_(forward), seed_(seed), repeat_(repeat) {
  for (const std::size_t input : inputs) along_.push_back({input});
}

std::vector<DerivativeMoment::Numbers> DerivativeMoment::choices() const {
  const std::vector<ffi::QuestionOperand>& arguments = case_.function_call.question.arguments;
  const bool any = std::any_of(arguments.begin(), arguments.end(),
                               [](const ffi::QuestionOperand& operand) { return operand.indexes; });
  if (!any) return {{false, false}, {true, false}};
  return {{false, true}, {true, true}, {false, false}, {true, false}};
}

void DerivativeMoment::ask_here(std::vector<ValueCall>& calls) {
  here_ = calls.size();
  for (const Numbers& numbers : choices()) add_function(make_inputs(numbers), calls);
}

// The first of them whose results are numbers, or else that is served.
void DerivativeMoment::take_here(const std::vector<ValueCall>& calls) {
  const std::vector<Numbers> all = choices();
  std::optional<std::size_t> chosen;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const ValueCall& call = calls[here_ + at];
    if (!is_served(call)) continue;
    const bool finite = has_numbers(call.answer);
    if (!chosen || finite) chosen = at;
    if (finite) break;
  }
  const ValueCall& call = calls[here_ + chosen.value_or(all.size() - 1)];
  if (!chosen) return close("a call of `" + call.question.symbol + "` " + end_text(call));
  if (!call.answer.unstable_results.empty()) {
    return close("equal inputs give other results each time");
  }
  numbers_ = all[*chosen];
  inputs_ = make_inputs(numbers_);
  answer_ = call.answer;
}

void DerivativeMoment::ask_sides(std::vector<ValueCall>& calls) {
  for (Along& one : along_) {
    if (one.verdict) continue;
    const ffi::QuestionOperand& operand = case_.function_call.question.arguments[one.input];
    one.moved.wide = floating_bytes(operand) == 8;
    one.moved.relative = case_.relative;
    one.moved.values = to_reals(inputs_[one.input], operand);
    one.moved.direction = make_direction(seed_ * 31 + one.input + 1, one.moved.values.size());
    for (std::size_t step = 0; step < difference_steps.size(); ++step) {
      const double distance = first_step(one.moved.wide) * difference_steps[step];
      for (const int side : {0, 1}) {
        Reals values = one.moved.values;
        for (std::size_t at = 0; at < values.size(); ++at) {
          values[at] += (side == 0 ? -distance : distance) * one.moved.direction[at];
        }
        std::vector<std::string> inputs = inputs_;
        inputs[one.input] = to_bytes(values, operand);
        one.sides[step][static_cast<std::size_t>(side)] = calls.size();
        add_function(inputs, calls);
      }
    }
  }
}

void DerivativeMoment::take_sides(const std::vector<ValueCall>& calls) {
  for (Along& one : along_) {
    if (!one.verdict) take_sides(one, calls);
  }
}

void DerivativeMoment::ask_derivatives(std::vector<ValueCall>& calls) {
  for (Along& one : along_) {
    if (one.verdict) continue;
    if (!forward_ && !choose_weights(one)) {
      one.verdict = skipped_derivative("the function does not change at any smooth point");
      continue;
    }
    ValueCall call;
    call.subject = case_.derivative;
    call.question = case_.derivative_call.question;
    for (std::size_t at = 0; at < case_.handed.size(); ++at) {
      ffi::QuestionOperand& operand = call.question.arguments[at];
      operand.bytes = handed_bytes(case_.handed[at], operand, one);
    }
    one.derivative_call = calls.size();
    calls.push_back(std::move(call));
  }
}

void DerivativeMoment::take_derivatives(const std::vector<ValueCall>& calls) {
  for (Along& one : along_) {
    if (one.verdict) continue;
    one.verdict = judge(one, calls[one.derivative_call]);
    one.seconds = calls[one.derivative_call].result.seconds;
  }
}

bool DerivativeMoment::may_be_overwritten(const Along& one) const {
  return !forward_ && one.verdict->status == "differs" && has_repeated_indexes();
}

void DerivativeMoment::ask_elements(std::vector<ValueCall>& calls) {
  constexpr std::size_t most_elements = 1024;
  for (Along& one : along_) {
    if (!may_be_overwritten(one)) continue;
    if (one.gradient.size() > most_elements) {
      one.verdict = skipped_derivative(
          "differs where integers repeat, and has too many elements to be asked one by one");
      continue;
    }
    one.element_calls = calls.size();
    for (std::size_t at = 0; at < one.gradient.size(); ++at) {
      Reals values = one.moved.values;
      values[at] += first_step(one.moved.wide) * one.moved.direction[at];
      std::vector<std::string> inputs = inputs_;
      inputs[one.input] = to_bytes(values, case_.function_call.question.arguments[one.input]);
      add_function(inputs, calls);
    }
  }
}

// Where one place is written several times, the last time counts, and it is usual that the gradient
// of each is handed back all the same.
void DerivativeMoment::take_elements(const std::vector<ValueCall>& calls) {
  for (Along& one : along_) {
    if (!may_be_overwritten(one)) continue;
    for (std::size_t at = 0; at < one.gradient.size(); ++at) {
      const ValueCall& call = calls[one.element_calls + at];
      const bool counts =
          std::any_of(case_.function_outputs.begin(), case_.function_outputs.end(),
                      [&](const CallOutput& output) {
                        return bytes_of(call.answer, output) != bytes_of(answer_, output);
                      });
      if (one.gradient[at] == 0 || counts) continue;
      one.verdict = skipped_derivative(
          "where integers repeat, it has a gradient for what is overwritten, by choice");
      break;
    }
  }
}

void DerivativeMoment::close(const std::string& reason) {
  for (Along& one : along_) one.verdict = skipped_derivative(reason);
}

bool DerivativeMoment::has_numbers(const ffi::Answer& answer) const {
  for (const CallOutput& output : case_.function_outputs) {
    const ffi::QuestionOperand& operand = operand_of(case_.function_call.question, output);
    if (floating_bytes(operand) == 0) continue;
    for (const double value : to_reals(bytes_of(answer, output), operand)) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

// How many integers from 0 up are numbers that every axis of the function's operands has; where
// they shall repeat, half as many.
std::size_t DerivativeMoment::index_extent() const {
  constexpr std::int64_t most = 127;
  std::int64_t smallest = most;
  const ffi::Question& question = case_.function_call.question;
  for (const auto* side : {&question.arguments, &question.results}) {
    for (const ffi::QuestionOperand& operand : *side) {
      for (const std::int64_t extent : operand.dims) {
        if (extent > 0) smallest = std::min(smallest, extent);
      }
    }
  }
  return static_cast<std::size_t>(repeat_ ? (smallest + 1) / 2 : smallest);
}

bool DerivativeMoment::has_repeated_indexes() const {
  const std::size_t apart = numbers_.spread ? index_extent() : 1;
  const std::vector<ffi::QuestionOperand>& arguments = case_.function_call.question.arguments;
  return std::any_of(arguments.begin(), arguments.end(),
                     [apart](const ffi::QuestionOperand& operand) {
                       return operand.indexes && elements_of(operand) > apart;
                     });
}

std::vector<std::string> DerivativeMoment::make_inputs(const Numbers& numbers) const {
  std::vector<std::string> inputs;
  for (const ffi::QuestionOperand& operand : case_.function_call.question.arguments) {
    const std::uint64_t seed = seed_ * 131 + inputs.size();
    const std::size_t count = elements_of(operand);
    if (floating_bytes(operand) > 0) {
      Reals values(count);
      for (std::size_t at = 0; at < count; ++at) {
        values[at] = number_at(seed, at, numbers.positive);
      }
      inputs.push_back(to_bytes(values, operand));
      continue;
    }
    const ffi::DtypeInfo& dtype = dtype_of(operand);
    std::string bytes(count * dtype.bytes, '\0');
    if (!operand.indexes) {
      fill_values(writable(bytes), dtype, seed);
    } else if (numbers.spread) {
      // In order, as ends of rows and numbers of segments have to be.
      for (std::size_t at = 0; at < count; ++at) {
        put_integer(writable(bytes), dtype, at, at * index_extent() / count);
      }
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

void DerivativeMoment::add_function(const std::vector<std::string>& inputs,
                                    std::vector<ValueCall>& calls) const {
  ValueCall call;
  call.subject = case_.function;
  call.question = case_.function_call.question;
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    call.question.arguments[at].bytes = inputs[at];
  }
  calls.push_back(std::move(call));
}

void DerivativeMoment::take_sides(Along& one, const std::vector<ValueCall>& calls) const {
  for (const auto& step : one.sides) {
    for (const std::size_t side : step) {
      if (is_served(calls[side])) continue;
      one.verdict = skipped_derivative("a call of `" + calls[side].question.symbol +
                                       "` beside the point " + end_text(calls[side]));
      return;
    }
  }
  bool any = false;
  bool useful = false;
  for (const CallOutput& output : case_.function_outputs) {
    const ffi::QuestionOperand& operand = operand_of(case_.function_call.question, output);
    const auto reals = [&](const ffi::Answer& answer) {
      return to_reals(bytes_of(answer, output), operand);
    };
    Reals here = reals(answer_);
    // A result of less precision has no differences.
    if (floating_bytes(operand) < (one.moved.wide ? 8 : 4) || here.empty()) {
      one.slopes.emplace_back();
      continue;
    }
    std::array<Sides, difference_steps.size()> sides;
    bool whole = true;
    for (std::size_t step = 0; step < sides.size(); ++step) {
      sides[step] = {reals(calls[one.sides[step][0]].answer),
                     reals(calls[one.sides[step][1]].answer)};
      whole =
          whole && sides[step].low.size() == here.size() && sides[step].high.size() == here.size();
    }
    if (!whole) {
      one.slopes.emplace_back();
      continue;
    }
    one.slopes.emplace_back(Slope(one.moved.wide, std::move(here), sides));
    any = true;
    useful = useful || one.slopes.back()->any_useful();
  }
  if (!any) {
    one.verdict = skipped_derivative(
        "it has no floating results with something in them, of its input's precision");
  } else if (!useful) {
    one.verdict = skipped_derivative("there is no point near which the function is smooth");
  }
}

// Of outputs whose cotangent can be handed over. False: none changes where that is smooth.
bool DerivativeMoment::choose_weights(Along& one) const {
  bool any = false;
  for (std::size_t output = 0; output < one.slopes.size(); ++output) {
    const std::optional<Slope>& slope = one.slopes[output];
    const bool taken =
        std::any_of(case_.handed.begin(), case_.handed.end(), [&](const DerivativeOperand& each) {
          return each.role == Role::cotangent && each.of == output;
        });
    Reals weights;
    if (slope && taken) {
      weights = make_direction(seed_ * 57 + one.input * 7 + output, slope->here().size());
      for (std::size_t at = 0; at < weights.size(); ++at) {
        if (!slope->is_judged(at)) weights[at] = 0;
        any = any || slope->is_told(at);
      }
    }
    one.weights.push_back(std::move(weights));
  }
  return any;
}

std::string DerivativeMoment::handed_bytes(const DerivativeOperand& handed,
                                           const ffi::QuestionOperand& operand,
                                           const Along& one) const {
  if (handed.role == Role::value && !handed.output) return inputs_[handed.of];
  if (handed.role == Role::value) return bytes_of(answer_, case_.function_outputs[handed.of]);
  Reals values(elements_of(operand), 0.0);
  if (handed.role == Role::tangent && handed.of == one.input) values = one.moved.direction;
  if (handed.role == Role::cotangent && !one.weights[handed.of].empty()) {
    values = one.weights[handed.of];
  }
  if (floating_bytes(operand) > 0) return to_bytes(values, operand);
  // What is no number has nothing to go on from but 0.
  return std::string(values.size() * dtype_of(operand).bytes, '\0');
}

DerivativeVerdict DerivativeMoment::judge(Along& one, const ValueCall& call) const {
  if (!call.answered) {
    // Nobody says that it serves these integers, or sizes.
    if (numbers_.spread || case_.unasked) return skipped_derivative(call.result.reason);
    one.ended = call.result;
    return skipped_derivative(call.result.reason);
  }
  if (!is_served(call)) return skipped_derivative("it " + end_text(call));
  if (!call.answer.unstable_results.empty()) {
    return skipped_derivative("it gives something else each time");
  }
  DerivativeVerdict verdict;
  std::vector<RuleTangent> tangents;
  for (std::size_t at = 0; at < case_.given.size(); ++at) {
    const DerivativeOperand& given = case_.given[at];
    const CallOutput& output = case_.derivative_outputs[at];
    const ffi::QuestionOperand& operand = operand_of(call.question, output);
    if (given.role == Role::tangent) {
      const std::optional<Slope>& slope = one.slopes[given.of];
      tangents.push_back({slope ? &*slope : nullptr, case_.output_names[given.of],
                          to_reals(bytes_of(call.answer, output), operand)});
    } else if (given.role == Role::cotangent && given.of == one.input) {
      std::vector<Weighted> weighted;
      for (std::size_t number = 0; number < one.slopes.size(); ++number) {
        const std::optional<Slope>& slope = one.slopes[number];
        weighted.push_back({slope ? &*slope : nullptr, one.weights[number]});
      }
      one.gradient = to_reals(bytes_of(call.answer, output), operand);
      verdict = judge_gradient(one.moved, weighted, case_.given_names[at], one.gradient);
      if (verdict.status == "differs" && is_symmetric(one.gradient, operand.dims)) {
        return skipped_derivative(
            "its gradient is symmetric, as of a matrix of which one half is read");
      }
    }
  }
  if (verdict.status.empty()) verdict = judge_tangents(one.moved, tangents);
  if (verdict.status == "differs" && one.moved.relative >= coarse) {
    return skipped_derivative("how far its values may be off leaves open what its derivative is");
  }
  if (verdict.status == "differs") return verdict;
  const DerivativeVerdict repeated = judge_repeated(one, call);
  return repeated.status == "differs" ? repeated : verdict;
}

// What it gives beside derivatives and the function gives, too.
DerivativeVerdict DerivativeMoment::judge_repeated(const Along& one, const ValueCall& call) const {
  DerivativeVerdict verdict;
  for (std::size_t at = 0; at < case_.given.size(); ++at) {
    const DerivativeOperand& given = case_.given[at];
    const CallOutput& output = case_.derivative_outputs[at];
    const ffi::QuestionOperand& operand = operand_of(call.question, output);
    if (given.role != Role::value || floating_bytes(operand) == 0) continue;
    const std::string& expected = bytes_of(answer_, case_.function_outputs[given.of]);
    std::string name = case_.given_names[at];
    std::erase(name, '`');
    verdict = opseal::judge_repeated(floating_bytes(operand) == 8, one.moved.relative, name,
                                     to_reals(expected, operand),
                                     to_reals(bytes_of(call.answer, output), operand));
    if (verdict.status == "differs") break;
  }
  return verdict;
}

}  // namespace opseal
