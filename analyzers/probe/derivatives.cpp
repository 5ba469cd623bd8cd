#include "analyzers/probe/derivatives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "analyzers/probe/derivative_plan.h"
#include "analyzers/probe/slope.h"
#include "analyzers/probe/values.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using Role = DerivativeOperand::Role;

// What differs at one point alone, of so many, may be a step or a kink that was met by chance. So
// many are asked at first: products of what differs may be alike by chance, too.
constexpr std::uint32_t points = 4;
constexpr std::uint32_t first_points = 2;

// Inputs whose calls are made together.
constexpr std::size_t most_at_once = 256;

const ffi::QuestionOperand& operand_of(const ffi::Question& question, const CallOutput& output) {
  return output.argument ? question.arguments[output.number] : question.results[output.number];
}

const std::string& bytes_of(const ffi::Answer& answer, const CallOutput& output) {
  static const std::string none;
  const std::vector<std::string>& side = output.argument ? answer.arguments : answer.results;
  return output.number < side.size() ? side[output.number] : none;
}

const ffi::DtypeInfo& dtype_of(const ffi::QuestionOperand& operand) {
  static constexpr ffi::DtypeInfo none{};
  const ffi::DtypeInfo* dtype = ffi::find_dtype_number(operand.dtype);
  return dtype == nullptr ? none : *dtype;
}

// 4 or 8 bytes; 0: not floating.
std::size_t floating_bytes(const ffi::QuestionOperand& operand) {
  const std::string_view name = dtype_of(operand).name;
  return name == "F32" ? 4 : name == "F64" ? 8 : 0;
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

// Derivatives of one case at one point, along some of its inputs.
class Moment {
 public:
  struct Along {
    std::size_t input = 0;
    MovedInput moved{};
    std::array<std::array<std::size_t, 2>, difference_steps.size()> sides{};
    // Of each output of the function; none: it has no derivative.
    std::vector<std::optional<Slope>> slopes{};
    std::vector<Reals> weights{};
    std::size_t derivative_call = 0;
    // Of that call.
    double seconds = 0;
    // Not said: nothing came of it yet.
    std::optional<DerivativeVerdict> verdict{};
    // The kernel of the derivative didn't come to an end: how, and what it did beside its buffers.
    std::optional<ProbeResult> ended{};
  };

  Moment(const DerivativeCase& one, bool forward, std::uint64_t seed,
         const std::vector<std::size_t>& inputs)
      : case_(one), forward_(forward), seed_(seed) {
    for (const std::size_t input : inputs) along_.push_back({input});
  }

  const std::vector<Along>& along() const { return along_; }

  // The function at the point: with numbers of both signs, and with positive ones.
  void ask_here(std::vector<ValueCall>& calls) {
    here_ = calls.size();
    for (const bool positive : {false, true}) add_function(make_inputs(positive), calls);
  }

  // The first of the two whose results are numbers, or else that is served.
  void take_here(const std::vector<ValueCall>& calls) {
    std::optional<bool> chosen;
    for (const bool positive : {false, true}) {
      const ValueCall& call = calls[here_ + (positive ? 1 : 0)];
      if (!is_served(call)) continue;
      const bool finite = has_numbers(call.answer);
      if (!chosen || finite) chosen = positive;
      if (finite) break;
    }
    const ValueCall& call = calls[here_ + (chosen.value_or(false) ? 1 : 0)];
    if (!chosen) return close("a call of `" + call.question.symbol + "` " + end_text(call));
    if (!call.answer.unstable_results.empty()) {
      return close("equal inputs give other results each time");
    }
    inputs_ = make_inputs(*chosen);
    answer_ = call.answer;
  }

  void ask_sides(std::vector<ValueCall>& calls) {
    for (Along& one : along_) {
      if (one.verdict) continue;
      const ffi::QuestionOperand& operand = case_.function_call.question.arguments[one.input];
      one.moved.wide = floating_bytes(operand) == 8;
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

  void take_sides(const std::vector<ValueCall>& calls) {
    for (Along& one : along_) {
      if (!one.verdict) take_sides(one, calls);
    }
  }

  void ask_derivatives(std::vector<ValueCall>& calls) {
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

  void take_derivatives(const std::vector<ValueCall>& calls) {
    for (Along& one : along_) {
      if (one.verdict) continue;
      one.verdict = judge(one, calls[one.derivative_call]);
      one.seconds = calls[one.derivative_call].result.seconds;
    }
  }

 private:
  void close(const std::string& reason) {
    for (Along& one : along_) one.verdict = skipped_derivative(reason);
  }

  static bool is_served(const ValueCall& call) {
    return call.answered && call.answer.lacked.empty() &&
           call.answer.end.how == ffi::CallEnd::How::returned;
  }

  // "is refused: only F32"
  static std::string end_text(const ValueCall& call) {
    if (!call.answered) return "has no end: " + call.result.reason;
    if (!call.answer.lacked.empty()) return "needs " + call.answer.lacked;
    return "is refused: " + call.answer.end.message;
  }

  bool has_numbers(const ffi::Answer& answer) const {
    for (const CallOutput& output : case_.function_outputs) {
      const ffi::QuestionOperand& operand = operand_of(case_.function_call.question, output);
      if (floating_bytes(operand) == 0) continue;
      for (const double value : to_reals(bytes_of(answer, output), operand)) {
        if (!std::isfinite(value)) return false;
      }
    }
    return true;
  }

  std::vector<std::string> make_inputs(bool positive) const {
    std::vector<std::string> inputs;
    for (const ffi::QuestionOperand& operand : case_.function_call.question.arguments) {
      const std::uint64_t seed = seed_ * 131 + inputs.size();
      const std::size_t count = elements_of(operand);
      if (floating_bytes(operand) > 0) {
        Reals values(count);
        for (std::size_t at = 0; at < count; ++at) values[at] = number_at(seed, at, positive);
        inputs.push_back(to_bytes(values, operand));
        continue;
      }
      std::string bytes(count * dtype_of(operand).bytes, '\0');
      if (!operand.indexes) fill_values(writable(bytes), dtype_of(operand), seed);
      inputs.push_back(std::move(bytes));
    }
    return inputs;
  }

  void add_function(const std::vector<std::string>& inputs, std::vector<ValueCall>& calls) const {
    ValueCall call;
    call.subject = case_.function;
    call.question = case_.function_call.question;
    for (std::size_t at = 0; at < inputs.size(); ++at) {
      call.question.arguments[at].bytes = inputs[at];
    }
    calls.push_back(std::move(call));
  }

  void take_sides(Along& one, const std::vector<ValueCall>& calls) const {
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
        whole = whole && sides[step].low.size() == here.size() &&
                sides[step].high.size() == here.size();
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
  bool choose_weights(Along& one) const {
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
          if (!slope->is_told(at)) weights[at] = 0;
          any = any || weights[at] != 0;
        }
      }
      one.weights.push_back(std::move(weights));
    }
    return any;
  }

  std::string handed_bytes(const DerivativeOperand& handed, const ffi::QuestionOperand& operand,
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

  DerivativeVerdict judge(Along& one, const ValueCall& call) const {
    if (!call.answered) {
      one.ended = call.result;
      return skipped_derivative(call.result.reason);
    }
    if (!is_served(call)) return skipped_derivative("it " + end_text(call));
    if (!call.answer.unstable_results.empty()) {
      return skipped_derivative("it gives something else each time");
    }
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
        return judge_gradient(one.moved, weighted,
                              to_reals(bytes_of(call.answer, output), operand));
      }
    }
    return judge_tangents(one.moved, tangents);
  }

  const DerivativeCase& case_;
  bool forward_;
  std::uint64_t seed_;
  std::vector<Along> along_;
  // Number of the first of two calls.
  std::size_t here_ = 0;
  // At the point.
  std::vector<std::string> inputs_;
  ffi::Answer answer_;
};

class Derivatives {
 public:
  Derivatives(const std::vector<ProbeSubject>& subjects, const std::vector<bool>& usable,
              const DerivativeAsker& asker)
      : subjects_(subjects), usable_(usable), planner_(subjects, usable), asker_(asker) {}

  std::vector<ProbeResult> run() {
    for (std::size_t at = 0; at < subjects_.size(); ++at) {
      const ProbeSubject& subject = subjects_[at];
      if (!usable_[at] || !subject.skipped.empty() || !subject.calls_skipped.empty()) continue;
      if (subject.op.said() && computes_derivatives(subject.op)) prepare(at);
      if (inputs_ >= most_at_once) ask_prepared();
    }
    ask_prepared();
    return std::move(results_);
  }

 private:
  struct Asked {
    DerivativeCase one;
    bool forward = false;
    std::vector<std::size_t> inputs;
  };

  // Along one input, at each of the points.
  struct Verdicts {
    const Asked* asked = nullptr;
    std::vector<Moment::Along> along;

    std::ptrdiff_t differing() const {
      return std::count_if(along.begin(), along.end(), [](const Moment::Along& one) {
        return one.verdict->status == "differs";
      });
    }
  };

  static const char* kind_of(bool forward) { return forward ? "jvp" : "transpose"; }

  ProbeResult start(std::size_t at, bool forward) const {
    ProbeResult result;
    result.kind = kind_of(forward);
    result.identity = asker_.identity(at) + '/' + result.kind;
    result.subject = at;
    return result;
  }

  std::string identity_of(const DerivativeCase& one, bool forward, std::size_t input) const {
    std::string name = one.argument_names[input];
    std::erase(name, '`');
    return start(one.derivative, forward).identity + '/' + one.derivative_call.identity + '/' +
           name;
  }

  void skip(ProbeResult result, const std::string& why) {
    if (!asker_.is_wanted(result.identity)) return;
    result.status = "skipped";
    result.reason = why;
    results_.push_back(std::move(result));
  }

  void prepare(std::size_t at) {
    DerivativePlan plan = planner_.plan(at);
    if (!plan.skipped.empty()) skip(start(at, plan.forward), plan.skipped);
    for (DerivativeCase& one : plan.cases) {
      for (const std::size_t input : one.excused) {
        ProbeResult result = start(at, plan.forward);
        result.identity = identity_of(one, plan.forward, input);
        skip(std::move(result), "it is declared to have no derivative");
      }
      Asked asked{std::move(one), plan.forward, {}};
      for (const std::size_t input : asked.one.along) {
        const ffi::QuestionOperand& operand = asked.one.function_call.question.arguments[input];
        if (floating_bytes(operand) == 0) continue;
        if (asker_.is_wanted(identity_of(asked.one, plan.forward, input))) {
          asked.inputs.push_back(input);
        }
      }
      inputs_ += asked.inputs.size();
      if (!asked.inputs.empty()) asked_.push_back(std::move(asked));
    }
  }

  void ask_prepared() {
    std::vector<Moment> moments;
    for (const Asked& asked : asked_) add_moments(asked, asked.inputs, 0, first_points, moments);
    make_calls(moments);
    for (const Verdicts& one : again(moments)) tell(one);
    asked_.clear();
    inputs_ = 0;
  }

  void make_calls(std::vector<Moment>& moments) {
    make(moments, &Moment::ask_here, &Moment::take_here);
    make(moments, &Moment::ask_sides, &Moment::take_sides);
    make(moments, &Moment::ask_derivatives, &Moment::take_derivatives);
  }

  void make(std::vector<Moment>& moments, void (Moment::*ask)(std::vector<ValueCall>&),
            void (Moment::*take)(const std::vector<ValueCall>&)) {
    std::vector<ValueCall> calls;
    for (Moment& moment : moments) (moment.*ask)(calls);
    for (ValueCall& call : calls) {
      call.question.kind = ffi::QuestionKind::values;
      call.question.minor = asker_.minor(call.subject);
      call.identity = asker_.identity(call.subject) + "/values";
    }
    asker_.ask(calls);
    for (Moment& moment : moments) (moment.*take)(calls);
  }

  void add_moments(const Asked& asked, const std::vector<std::size_t>& inputs, std::uint32_t begin,
                   std::uint32_t end, std::vector<Moment>& moments) const {
    for (std::uint32_t point = begin; point < end; ++point) {
      moments.emplace_back(asked.one, asked.forward, asker_.seed + 1000 * point, inputs);
    }
  }

  // What differs is asked at further points. Along each input, what it came to at each point.
  std::vector<Verdicts> again(const std::vector<Moment>& moments) {
    std::vector<Verdicts> verdicts;
    std::vector<Moment> more;
    for (std::size_t at = 0; at < asked_.size(); ++at) {
      for (std::size_t input = 0; input < asked_[at].inputs.size(); ++input) {
        Verdicts one{&asked_[at], {}};
        for (std::size_t point = 0; point < first_points; ++point) {
          one.along.push_back(moments[at * first_points + point].along()[input]);
        }
        if (one.differing() > 0) {
          add_moments(asked_[at], {asked_[at].inputs[input]}, first_points, points, more);
        }
        verdicts.push_back(std::move(one));
      }
    }
    make_calls(more);
    auto next = more.begin();
    for (Verdicts& one : verdicts) {
      if (one.differing() == 0) continue;
      for (std::uint32_t point = first_points; point < points; ++point, ++next) {
        one.along.push_back(next->along().front());
      }
    }
    return verdicts;
  }

  // What differs, or else the first point that says something, or the first.
  static const Moment::Along& chosen(const Verdicts& verdicts) {
    for (const char* status : {"differs", "passed"}) {
      for (const Moment::Along& one : verdicts.along) {
        if (one.verdict->status == status) return one;
      }
    }
    return verdicts.along.front();
  }

  void tell(const Verdicts& verdicts) {
    const Asked& asked = *verdicts.asked;
    const Moment::Along& one = chosen(verdicts);
    ProbeResult result = start(asked.one.derivative, asked.forward);
    result.identity = identity_of(asked.one, asked.forward, one.input);
    DerivativeVerdict verdict = *one.verdict;
    if (verdicts.differing() == 1) {
      verdict = skipped_derivative("differs at one of " + std::to_string(points) +
                                   " points, as beside a step");
    }
    result.status = verdict.status;
    result.reason = verdict.reason;
    result.seconds = one.seconds;
    for (const Moment::Along& each : verdicts.along) {
      if (!each.ended) continue;
      result.status = each.ended->status;
      result.reason = each.ended->reason;
      result.deviations = each.ended->deviations;
    }
    result.question = asked.one.derivative_call.question;
    result.calls = true;
    // Calls of which function they were held against.
    if (result.status == "passed" || result.status == "differs")
      result.counterpart = asker_.identity(asked.one.function);
    if (result.status == "differs") {
      ProbeDeviation deviation;
      deviation.kind = result.kind;
      deviation.name = asked.one.argument_names[one.input];
      std::erase(deviation.name, '`');
      deviation.index = std::max<std::int64_t>(verdict.index, 0);
      deviation.expected = verdict.expected;
      deviation.seen = verdict.seen;
      result.deviations.push_back(std::move(deviation));
    }
    results_.push_back(std::move(result));
  }

  const std::vector<ProbeSubject>& subjects_;
  const std::vector<bool>& usable_;
  DerivativePlanner planner_;
  const DerivativeAsker& asker_;
  // What is asked next, and along how many inputs.
  std::vector<Asked> asked_;
  std::size_t inputs_ = 0;
  std::vector<ProbeResult> results_;
};

}  // namespace

std::vector<ProbeResult> probe_derivatives(const std::vector<ProbeSubject>& subjects,
                                           const std::vector<bool>& usable,
                                           const DerivativeAsker& asker) {
  return Derivatives(subjects, usable, asker).run();
}

}  // namespace opseal
