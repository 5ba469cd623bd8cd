#include "analyzers/probe/derivatives.h"

#include <algorithm>
#include <span>
#include <utility>

#include "analyzers/probe/derivative_moment.h"
#include "analyzers/probe/derivative_plan.h"
#include "analyzers/probe/slope.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// What differs at one point alone, of so many, may be a step or a kink that was met by chance. So
// many are asked at first: products of what differs may be alike by chance, too.
constexpr std::uint32_t points = 4;
constexpr std::uint32_t first_points = 2;

// Inputs whose calls are made together.
constexpr std::size_t most_at_once = 256;

// Bytes of the operands of one call for each of them; some twenty calls are held together.
constexpr std::size_t most_held = std::size_t{1} << 22;

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
    std::vector<DerivativeMoment::Along> along;

    std::ptrdiff_t differing() const {
      return std::count_if(along.begin(), along.end(), [](const DerivativeMoment::Along& one) {
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
      if (asked.inputs.empty()) continue;
      held_ += asked.inputs.size() * ffi::size_of(asked.one.function_call.question);
      inputs_ += asked.inputs.size();
      asked_.push_back(std::move(asked));
      if (inputs_ >= most_at_once || held_ >= most_held) ask_prepared();
    }
  }

  void ask_prepared() {
    std::vector<DerivativeMoment> moments;
    for (const Asked& asked : asked_) add_moments(asked, asked.inputs, 0, first_points, moments);
    make_calls(moments);
    for (const Verdicts& one : again(moments)) tell(one);
    asked_.clear();
    inputs_ = 0;
    held_ = 0;
  }

  void make_calls(std::vector<DerivativeMoment>& moments) {
    make(moments, &DerivativeMoment::ask_here, &DerivativeMoment::take_here);
    make(moments, &DerivativeMoment::ask_sides, &DerivativeMoment::take_sides);
    make(moments, &DerivativeMoment::ask_derivatives, &DerivativeMoment::take_derivatives);
    // These may be very many.
    for (DerivativeMoment& moment : moments) {
      make({&moment, 1}, &DerivativeMoment::ask_elements, &DerivativeMoment::take_elements);
    }
  }

  void make(std::span<DerivativeMoment> moments,
            void (DerivativeMoment::*ask)(std::vector<ValueCall>&),
            void (DerivativeMoment::*take)(const std::vector<ValueCall>&)) {
    std::vector<ValueCall> calls;
    for (DerivativeMoment& moment : moments) (moment.*ask)(calls);
    for (ValueCall& call : calls) {
      call.question.kind = ffi::QuestionKind::values;
      call.question.minor = asker_.minor(call.subject);
      call.identity = asker_.identity(call.subject) + "/values";
    }
    if (!calls.empty()) asker_.ask(calls);
    for (DerivativeMoment& moment : moments) (moment.*take)(calls);
  }

  void add_moments(const Asked& asked, const std::vector<std::size_t>& inputs, std::uint32_t begin,
                   std::uint32_t end, std::vector<DerivativeMoment>& moments) const {
    for (std::uint32_t point = begin; point < end; ++point) {
      // What shows only where integers repeat shows at two of four.
      moments.emplace_back(asked.one, asked.forward, asker_.seed + 1000 * point, point % 2 == 1,
                           inputs);
    }
  }

  // What differs is asked at further points. Along each input, what it came to at each point.
  std::vector<Verdicts> again(const std::vector<DerivativeMoment>& moments) {
    std::vector<Verdicts> verdicts;
    std::vector<DerivativeMoment> more;
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
  static const DerivativeMoment::Along& chosen(const Verdicts& verdicts) {
    for (const char* status : {"differs", "passed"}) {
      for (const DerivativeMoment::Along& one : verdicts.along) {
        if (one.verdict->status == status) return one;
      }
    }
    return verdicts.along.front();
  }

  void tell(const Verdicts& verdicts) {
    const Asked& asked = *verdicts.asked;
    const DerivativeMoment::Along& one = chosen(verdicts);
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
    for (const DerivativeMoment::Along& each : verdicts.along) {
      if (!each.ended) continue;
      result.status = each.ended->status;
      result.reason = each.ended->reason;
      result.deviations = each.ended->deviations;
    }
    result.input = asked.one.argument_names[one.input];
    std::erase(result.input, '`');
    result.question = asked.one.derivative_call.question;
    result.calls = true;
    // Calls of which function they were held against.
    if (result.status == "passed" || result.status == "differs")
      result.counterpart = asker_.identity(asked.one.function);
    if (result.status == "differs") {
      ProbeDeviation deviation;
      const bool repeated = !verdict.repeated.empty();
      deviation.kind = repeated ? "repeated" : result.kind;
      deviation.name = repeated ? verdict.repeated : result.input;
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
  // Bytes of the operands of one call for each of these.
  std::size_t held_ = 0;
  std::vector<ProbeResult> results_;
};

}  // namespace

bool is_served(const ValueCall& call) {
  return call.answered && call.answer.lacked.empty() &&
         call.answer.end.how == ffi::CallEnd::How::returned;
}

std::string end_text(const ValueCall& call) {
  if (!call.answered) return "brings no answer: " + call.result.reason;
  if (!call.answer.lacked.empty()) return "needs " + call.answer.lacked;
  return "is refused: " + call.answer.end.message;
}

std::vector<ProbeResult> probe_derivatives(const std::vector<ProbeSubject>& subjects,
                                           const std::vector<bool>& usable,
                                           const DerivativeAsker& asker) {
  return Derivatives(subjects, usable, asker).run();
}

}  // namespace opseal
