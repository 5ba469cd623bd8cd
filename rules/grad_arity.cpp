#include <algorithm>
#include <optional>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/operand_dtypes.h"
#include "rules/operator_index.h"

namespace opseal {
namespace {

// In ggml the backward adds to the gradients of those inputs that it knows, one by one: it hands
// back no list that could be too short.
bool lists_every_gradient(const Fact& manifest) { return !manifest[Key::system].is("ggml"); }

// Systems that ask for a gradient, or a none, for each input, whatever it is.
bool wants_every_gradient(const Fact& manifest) {
  const Fact system = manifest[Key::system];
  return system.is("torch-autograd") || system.is("jax-derivatives") ||
         (is_of_sources(manifest) && (system.is("tensorflow") || system.is("torch")));
}

// Inputs that take no gradient by what is said of them: a backward may leave them out.
std::uint32_t count_without_gradient(const Fact& op, std::uint32_t inputs) {
  const Fact operands = op[Key::inputs];
  std::uint32_t without = 0;
  if (operands.is_list()) {
    for (const Fact operand : operands.items()) {
      const Fact differentiable = operand[Key::differentiable];
      const bool refused = differentiable.is_truth() && !differentiable.truth();
      const OperandDtypes dtypes = operand_dtypes(op, operand);
      if (refused || operand[Key::mutated].truth() || (dtypes.said && dtypes.none_floating)) {
        ++without;
      }
    }
  }
  if (without == 0 && op[Key::traced_signatures]) {
    for (std::uint32_t i = 0; i < inputs; ++i) {
      const OperandDtypes dtypes = traced_dtypes(op, [i](const Fact&) { return std::uint64_t{i}; });
      // Signatures hold no more than they hold, whatever number of inputs is claimed.
      if (!dtypes.said) break;
      if (dtypes.none_floating) ++without;
    }
  }
  return without;
}

std::uint32_t count_marked(const Fact& op) {
  std::uint32_t marked = 0;
  for (const Fact operand : op[Key::inputs].items()) {
    if (operand[Key::differentiable].truth()) ++marked;
  }
  return marked;
}

// Listed operands that take a gradient by what is said of them.
std::uint32_t count_with_gradient(const Fact& op) {
  std::uint32_t with = 0;
  for (const Fact operand : op[Key::inputs].items()) {
    const Fact differentiable = operand[Key::differentiable];
    if (operand[Key::optional].truth() || operand[Key::mutated].truth()) continue;
    const OperandDtypes dtypes = operand_dtypes(op, operand);
    if (differentiable.truth(dtypes.said && dtypes.all_floating)) ++with;
  }
  return with;
}

// How many gradients an operator with such a schema may hand back: torch asks a backward for one
// for each argument, numbers and flags included, and derivative formulas count tensors alone.
std::optional<CountRange> gradients_by_schema(const Fact& manifest, const Fact& op) {
  if (!manifest[Key::system].is("torch")) return {};
  const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
  if (!schema || schema->more_inputs) return {};
  CountRange range;
  if (is_of_sources(manifest)) {
    // `register_autograd`: one for each argument by position, whatever it is; those that equal
    // their defaults may be left out.
    for (const SchemaOperand& input : schema->inputs) {
      if (input.keyword_only) continue;
      ++range.max;
      if (!input.has_default) ++range.min;
    }
    return range;
  }
  range.max = static_cast<std::uint32_t>(schema->inputs.size());
  for (const SchemaOperand& input : schema->inputs) {
    if (input.is_tensor() && !input.optional && !input.mutated()) ++range.min;
  }
  return range;
}

class GradientCounts {
 public:
  GradientCounts(const Facts& facts, Sink& sink) : facts_(&facts), sink_(&sink) {}

  void check(const Fact& manifest, const Fact& op) {
    const Fact gradient = op[Key::gradient];
    const Fact differentiable = op[Key::differentiable];
    if (!gradient || (differentiable.is_truth() && !differentiable.truth())) return;
    const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
    if (inputs && inputs->max == CountRange::unbounded) return;
    if (gradient[Key::returns].is_count()) {
      std::optional<CountRange> expected = gradients_by_schema(manifest, op);
      if (inputs && expected) {
        expected->min = std::min(expected->min, inputs->min);
        expected->max = std::max(expected->max, inputs->max);
      } else if (inputs) {
        expected = *inputs;
      }
      if (expected) check_returns(manifest, op, gradient[Key::returns], *expected);
    } else if (!inputs) {
      return;
    } else if (gradient[Key::operator_].is_text()) {
      check_outputs(manifest, op, gradient[Key::operator_], *inputs);
    }
  }

 private:
  // Some systems want a gradient, or a placeholder, for each attribute too.
  static std::uint64_t most_gradients(const Fact& op, const CountRange& inputs) {
    return std::uint64_t{inputs.max} + op[Key::attributes].size();
  }

  void check_returns(const Fact& manifest, const Fact& op, const Fact& returns,
                     const CountRange& inputs) {
    sink_->inspected();
    const std::uint32_t number = returns.count();
    if (inputs.has(number)) return;
    if (number > inputs.max && number <= most_gradients(op, inputs)) return;
    const bool may_leave_out = number + count_without_gradient(op, inputs.min) >= inputs.min;
    if (number < inputs.min && !wants_every_gradient(manifest) &&
        (!lists_every_gradient(manifest) || may_leave_out)) {
      return;
    }
    Finding& finding = report(manifest, op, plural(number, "gradient"), returns, inputs);
    if (number > inputs.max || wants_every_gradient(manifest)) return;
    if (number < count_with_gradient(op)) return;
    // An index or a mask takes no gradient, and a bare number of inputs doesn't tell them apart.
    const std::uint32_t lacking = inputs.min - number;
    finding.severity = Severity::warning;
    finding.message += ", too few unless " + plural(lacking, "input") +
                       (lacking == 1 ? " takes none" : " take none");
  }

  // The outputs of a backward operator are gradients, but it may leave out those that nobody wants;
  // what it leaves out is only an error where the input is marked.
  void check_outputs(const Fact& manifest, const Fact& op, const Fact& name,
                     const CountRange& inputs) {
    if (!index_) index_.emplace(*facts_);
    const std::vector<Fact> found = index_->find(manifest, op, name.text());
    if (found.size() != 1) return;
    const Fact counted = found.front()[Key::outputs];
    const Stated<CountRange> outputs = operand_count(counted);
    if (!outputs || outputs->max == CountRange::unbounded) return;
    sink_->inspected();
    if (outputs->min > most_gradients(op, inputs)) {
      Finding& finding = report(manifest, op, output_text(*outputs, name), counted, inputs);
      // It may hand back more than gradients.
      finding.severity = Severity::warning;
    } else if (outputs->max < count_marked(op)) {
      Finding& finding = report(manifest, op, output_text(*outputs, name), counted, inputs);
      finding.message += ", of which " + std::to_string(count_marked(op)) +
                         (count_marked(op) == 1 ? " is" : " are") + " marked differentiable";
    }
  }

  static std::string output_text(const CountRange& outputs, const Fact& name) {
    return to_text(outputs, "output") + " of gradient operator " + quote(name.text());
  }

  Finding& report(const Fact& manifest, const Fact& op, const std::string& counted,
                  const Fact& where, const CountRange& inputs) {
    Finding& finding =
        sink_->add(subject_of(manifest, op), counted + " for " + to_text(inputs, "input"),
                   evidence(where, "gradients counted here"));
    finding.related.push_back(evidence(op[Key::inputs].said() ? op[Key::inputs] : op[Key::schema],
                                       "inputs counted here" + site_of(op)));
    return finding;
  }

  const Facts* facts_;
  Sink* sink_;
  std::optional<OperatorIndex> index_;
};

void check(const Facts& facts, Sink& sink) {
  GradientCounts counts(facts, sink);
  for_each_operator(
      facts, [&counts](const Fact& manifest, const Fact& op) { counts.check(manifest, op); });
}

}  // namespace

extern constinit const Rule grad_arity{
    .id = "grad-arity",
    .title = "number of gradients differs from the number of inputs",
    .rationale =
        "The backward of an operator hands back one gradient for each input, in order; systems "
        "check "
        "the number only when a backward pass runs. A wrong number makes every training step "
        "through the operator raise, and where it is not checked, gradients go to the wrong "
        "inputs.",
    .example =
        R"({"name": "pool", "inputs": 5, "gradient": {"operator": "pool_backward", "returns": 6}})",
    .fix =
        "return one gradient, or an explicit none, for each input; a manifest may say "
        "`\"differentiable\": false` at inputs that take none",
    .severity = Severity::error,
    .inspects = "operator with a gradient whose number of inputs and of gradients is said",
    .needs = {Key::gradient},
    .check = check,
};

}  // namespace opseal
