#include <algorithm>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/odd_one_out.h"
#include "rules/operand_dtypes.h"

namespace opseal {
namespace {

// The facts that say how an operator is differentiated. One of them is enough.
constexpr Key derivative_keys[] = {Key::jvp, Key::gradient, Key::linearization};

bool has_derivative(const Fact& op) {
  return std::any_of(std::begin(derivative_keys), std::end(derivative_keys),
                     [&op](Key key) { return op[key].present(); });
}

// The first derivative fact that is said to be absent, or not said.
Fact absent_derivative(const Fact& op) {
  for (const Key key : derivative_keys) {
    if (op[key].is_null()) return op[key];
  }
  return {};
}

// The mark that the operator, or one of its inputs, is to be differentiated; or not said.
Fact differentiable_mark(const Fact& op) {
  const Fact mark = op[Key::differentiable];
  if (mark.is_truth()) return mark;
  for (const Fact operand : op[Key::inputs].items()) {
    if (operand[Key::differentiable].truth()) return operand[Key::differentiable];
  }
  return {};
}

// Differentiated through what it is composed of, or by a kernel of the dispatcher.
bool differentiates_otherwise(const Fact& op) {
  if (op[Key::function_body].truth()) return true;
  for (const Fact kernel : op[Key::kernels].items()) {
    const std::string_view platform = kernel[Key::platform].text();
    if (!is_active_kernel(kernel)) continue;
    if (platform.starts_with("Autograd") || platform == "CompositeImplicitAutograd") return true;
  }
  return false;
}

// Somebody said that it turns floating-point numbers into floating-point numbers. Peers prove
// nothing about an operator that encodes, counts or permutes.
bool maps_floating_to_floating(const Fact& op) {
  const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
  const Stated<CountRange> outputs = operand_count(op[Key::outputs]);
  if (!inputs || !outputs || inputs->max == CountRange::unbounded ||
      outputs->max == CountRange::unbounded) {
    return false;
  }
  bool input = false;
  for (std::uint32_t i = 0; i < std::min(inputs->min, most_operands) && !input; ++i) {
    input = input_dtypes(op, i).floating.said() && input_dtypes(op, i).all_floating;
  }
  for (std::uint32_t i = 0; input && i < std::min(outputs->min, most_operands); ++i) {
    if (output_dtypes(op, i).floating && output_dtypes(op, i).all_floating) return true;
  }
  return false;
}

void check_marked(const Fact& manifest, const Fact& op, const Fact& mark, Sink& sink) {
  const Fact absent = absent_derivative(op);
  if (!has_derivative(op) && !absent.said()) return;
  sink.inspected();
  if (has_derivative(op) || differentiates_otherwise(op)) return;
  Finding& finding = sink.add(
      subject_of(manifest, op),
      std::string("no derivative rule for ") +
          (mark.key() == Key::differentiable && op[Key::differentiable] == mark ? "an operator"
                                                                                : "an input") +
          " marked differentiable",
      evidence(absent, "said to be absent here"));
  finding.related.push_back(evidence(mark, "marked differentiable here" + site_of(op)));
}

void check(const Facts& facts, Sink& sink) {
  OddOneOut peers;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    const Fact mark = differentiable_mark(op);
    if (mark.said()) {
      if (mark.truth()) check_marked(manifest, op, mark, sink);
    } else if (has_derivative(op) || absent_derivative(op).said()) {
      peers.count(manifest, op, has_derivative(op));
    }
  });
  sink.inspected(peers.judged());
  peers.for_each_odd([&sink](const OddOneOut::Odd& odd) {
    if (differentiates_otherwise(odd.op) || !maps_floating_to_floating(odd.op)) return;
    Finding& finding = sink.add(
        subject_of(odd.manifest, odd.op),
        "no derivative rule, where " + std::to_string(odd.keeping) + " of " +
            plural(odd.peers, "operator") + " of the same namespace and platforms have one",
        evidence(absent_derivative(odd.op), "said to be absent here" + site_of(odd.op)));
    finding.severity = Severity::warning;
  });
}

}  // namespace

extern constinit const Rule jvp_missing_differentiable{
    .id = "jvp-missing-differentiable",
    .title = "operator that is to be differentiated has no derivative rule",
    .rationale =
        "Somebody relies on the derivative of this operator: its author marks it differentiable, "
        "or "
        "all of its neighbours have a rule. Without one, the first gradient through it raises, or, "
        "in systems that cut the graph in silence, comes out as zero.",
    .example = R"({"name": "matvec", "differentiable": true, "jvp": null, "gradient": null})",
    .fix = "register a derivative rule, or say `\"differentiable\": false`",
    .severity = Severity::error,
    .inspects = "operator marked differentiable, or with peers, whose derivative rules are said",
    .needs = {Key::operators},
    .check = check,
};

}  // namespace opseal
