#include <algorithm>
#include <optional>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// The most inputs that an operator can have, and the fact that says so.
struct InputBound {
  std::uint32_t most = CountRange::unbounded;
  Fact witness;
};

// `inputs` where it was counted, and at least what the implementation takes: a count that was seen
// in calls may lack an input that those calls left out.
InputBound input_bound(const Fact& op) {
  const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
  const Fact implementation = op[Key::etp][Key::implementation];
  const Fact positional = implementation[Key::positional];
  const bool fixed = positional.is_count() && !implementation[Key::variadic].truth();
  InputBound bound;
  if (inputs) bound = {inputs->max, op[Key::inputs]};
  if (fixed && (!inputs || positional.count() > inputs->max)) {
    bound = {positional.count(), positional};
  }
  return bound;
}

// An input that is there only together with a bias: in the layout with a bias and not in the other.
bool is_optional(const Fact& etp, const Fact& parameter) {
  const Fact without = etp[Key::trainables_without_bias];
  if (!without.is_map()) return false;
  for (const auto [kept, index] : without.entries()) {
    if (kept.name() == parameter.name()) return false;
  }
  return true;
}

class Operator {
 public:
  Operator(const Fact& manifest, const Fact& op, Sink& sink)
      : manifest_(manifest), op_(op), etp_(op[Key::etp]), sink_(&sink) {}

  void check() {
    const InputBound bound = input_bound(op_);
    const bool bounded = bound.most != CountRange::unbounded;
    const Fact x = etp_[Key::x_index];
    // A layout is a handful of entries; entries are compared with each other.
    constexpr std::uint32_t most_parameters = 256;
    if (etp_[Key::trainables].size() > most_parameters ||
        etp_[Key::trainables_without_bias].size() > most_parameters) {
      return;
    }
    if (bounded) {
      check_trainables(etp_[Key::trainables], bound);
      check_trainables(etp_[Key::trainables_without_bias], bound);
    }
    if (x.is_count() && bounded && x.count() >= bound.most) {
      report("x", x, bound);
      judged_ = true;
    } else if (x.is_count()) {
      judged_ = judged_ || bounded;
      check_behind_optional(x);
    }
    check_output();
    if (judged_) sink_->inspected();
  }

 private:
  void check_trainables(const Fact& trainables, const InputBound& bound) {
    // Counts seen in calls, in a trace or in rules may come from calls without the bias.
    const Fact source = op_[Key::arity_source];
    const bool seen = bound.witness.key() == Key::inputs &&
                      (source.is("calls") || source.is("traced") || source.is("rule"));
    for (const auto [parameter, index] : trainables.entries()) {
      if (!index.is_count()) continue;
      if (seen && is_optional(etp_, parameter)) continue;
      judged_ = true;
      if (index.count() < bound.most || parameter.name() == reported_) continue;
      report(quote(parameter.text()), index, bound);
      reported_ = parameter.name();
    }
  }

  // Without a bias, every input behind it moves up by one, while the index of x stays.
  void check_behind_optional(const Fact& x) {
    const Fact without = etp_[Key::trainables_without_bias];
    if (!without.is_map()) return;
    std::optional<std::uint32_t> optional;
    Fact witness;
    std::uint32_t last_kept = 0;
    for (const auto [parameter, index] : etp_[Key::trainables].entries()) {
      if (!index.is_count()) return;
      if (!is_optional(etp_, parameter)) {
        last_kept = std::max(last_kept, index.count());
      } else if (!optional || index.count() < *optional) {
        optional = index.count();
        witness = index;
      }
    }
    if (!optional) return;
    judged_ = true;
    // A trainable that keeps its index behind the bias shows that a place is kept for it.
    if (x.count() <= *optional || last_kept > *optional) return;
    Finding& finding =
        sink_->add(subject_of(manifest_, op_),
                   "x at input " + std::to_string(x.count()) + ", behind optional input " +
                       std::to_string(*optional) + ": where that is left out, x is at " +
                       std::to_string(x.count() - 1),
                   evidence(x, "index said here"));
    finding.related.push_back(evidence(witness, "left out without a bias" + site_of(op_)));
    finding.severity = Severity::warning;
  }

  void check_output() {
    const Fact y = etp_[Key::y_index];
    const Stated<CountRange> outputs = operand_count(op_[Key::outputs]);
    if (!y.is_count() || !outputs || outputs->max == CountRange::unbounded) return;
    judged_ = true;
    if (y.count() < outputs->max) return;
    Finding& finding = sink_->add(subject_of(manifest_, op_),
                                  "y at output " + std::to_string(y.count()) + " of " +
                                      to_text(*outputs, "output") + ", counted from 0",
                                  evidence(y, "index said here"));
    finding.related.push_back(evidence(op_[Key::outputs], "outputs counted here" + site_of(op_)));
  }

  void report(const std::string& what, const Fact& index, const InputBound& bound) {
    Finding& finding = sink_->add(subject_of(manifest_, op_),
                                  what + " at input " + std::to_string(index.count()) + " of " +
                                      plural(bound.most, "input") + ", counted from 0",
                                  evidence(index, "index said here"));
    finding.related.push_back(evidence(bound.witness, "inputs counted here" + site_of(op_)));
  }

  Fact manifest_;
  Fact op_;
  Fact etp_;
  Sink* sink_;
  bool judged_ = false;
  // Both layouts usually hold the same mistake.
  Name reported_ = Names::missing;
};

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    if (op[Key::etp]) Operator(manifest, op, sink).check();
  });
}

}  // namespace

extern constinit const Rule etp_index_range{
    .id = "etp-index-range",
    .title = "index of x, y or a parameter lies outside the operator's inputs or outputs",
    .rationale =
        "The compiler of an online-learning algorithm takes the operator's input, output and "
        "weights out of the traced program by these indices, and nothing checks them at "
        "registration. An index past the end raises when a model is compiled; one that points at "
        "another input after an optional one was left out takes that for x, and learns from it.",
    .example =
        R"({"name": "my_mv", "inputs": 2, "etp": {"trainables": {"weight": 1}, "x_index": 2, "y_index": 0}})",
    .fix = "give the position in the operator's own inputs, counted from 0",
    .severity = Severity::error,
    .inspects = "eligibility-trace operator with an index and a bound for it",
    .needs = {Key::etp},
    .check = check,
};

}  // namespace opseal
