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

// What the dtypes of all inputs, or all outputs, that anybody said come to.
enum class Carries : std::uint8_t { unknown, nothing, tangent };

template <typename Dtypes>
Carries carries_tangent(const Fact& operands, Dtypes dtypes_of) {
  const Stated<CountRange> count = operand_count(operands);
  Carries carries = Carries::unknown;
  if (!count) return carries;
  for (std::uint32_t i = 0; i < std::min(count->min, most_operands); ++i) {
    const OperandDtypes dtypes = dtypes_of(i);
    if (!dtypes.said) continue;
    if (dtypes.all_floating) return Carries::tangent;
    carries = Carries::nothing;
  }
  return carries;
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

// Peers prove nothing about an operator that encodes, counts or permutes: only one that is said to
// turn floating-point numbers into floating-point numbers is held against them.
void check_lacking(const OddOneOut::Lacking& lacking, Sink& sink) {
  const Fact op = lacking.op;
  const Carries in =
      carries_tangent(op[Key::inputs], [&op](std::uint32_t i) { return input_dtypes(op, i); });
  const Carries out =
      carries_tangent(op[Key::outputs], [&op](std::uint32_t i) { return output_dtypes(op, i); });
  if (in == Carries::unknown || out == Carries::unknown) return;
  sink.inspected();
  if (in == Carries::nothing || out == Carries::nothing) return;
  if (!lacking.is_odd() || differentiates_otherwise(op)) return;
  Finding& finding = sink.add(
      subject_of(lacking.manifest, op),
      "no derivative rule, where " + std::to_string(lacking.keeping) + " of " +
          plural(lacking.peers, "operator") + " of the same namespace and platforms have one",
      evidence(absent_derivative(op), "said to be absent here" + site_of(op)));
  finding.severity = Severity::warning;
}

void check(const Facts& facts, Sink& sink) {
  OddOneOut peers;
  const bool marks = facts.said[static_cast<std::size_t>(Key::differentiable)];
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    const Fact mark = marks ? differentiable_mark(op) : Fact();
    if (mark.said()) {
      if (mark.truth()) check_marked(manifest, op, mark, sink);
      return;
    }
    const bool keeps = has_derivative(op);
    if (keeps || absent_derivative(op).said()) peers.count(manifest, op, keeps);
  });
  sink.inspected(peers.judged_keeping());
  peers.for_each_lacking(
      [&sink](const OddOneOut::Lacking& lacking) { check_lacking(lacking, sink); });
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
    .fix = "register a derivative rule; a manifest may say `\"differentiable\": false`",
    .severity = Severity::error,
    .inspects = "operator marked differentiable, or with peers, whose derivative rules are said",
    .needs = {Key::operators},
    .check = check,
};

}  // namespace opseal
