#include <algorithm>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/operand_dtypes.h"

namespace opseal {
namespace {

// A trace with integers alone says little: the operator may take floats at the same place. An
// integer beside floats is an index or a count.
bool stands_beside_floats(const Fact& op, std::uint32_t index, std::uint32_t inputs) {
  for (const Fact signature : op[Key::traced_signatures].items()) {
    bool floats = false;
    std::uint32_t at = 0;
    for (const Fact dtype : signature.items()) {
      if (at >= inputs) break;
      if (at++ != index && number_kind(dtype.text()) == NumberKind::floating) floats = true;
    }
    if (!floats) return false;
  }
  return true;
}

OperandDtypes dtypes_at(const Fact& op, std::uint32_t index, std::uint32_t inputs) {
  if (op[Key::inputs].is_list()) {
    OperandDtypes declared = operand_dtypes(op, item_at(op[Key::inputs], index));
    if (declared.said) return declared;
  }
  if (!stands_beside_floats(op, index, inputs)) return {};
  return traced_dtypes(op, [index](const Fact&) { return std::uint64_t{index}; });
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact jvp = op[Key::jvp];
    if (!jvp[Key::kind].is("per_input")) return;
    const Fact rules = jvp[Key::rules];
    const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
    // Which rule is for which input is known only where they pair one to one.
    if (!inputs || !inputs->exact() || inputs->min != rules.size() || inputs->min > most_operands) {
      return;
    }
    std::uint32_t index = 0;
    for (const Fact rule : rules.items()) {
      const std::uint32_t place = index++;
      if (!rule.said()) continue;
      const OperandDtypes dtypes = dtypes_at(op, place, inputs->min);
      if (!dtypes.said) continue;
      sink.inspected();
      if (!rule.present() || !dtypes.none_floating || !dtypes.integer) continue;
      Finding& finding = sink.add(subject_of(manifest, op),
                                  "tangent rule for " + input_text(op, place) + ", which takes " +
                                      quote(dtypes.integer.text()) + " and no floating dtype",
                                  evidence(rule, "rule of the integer input" + site_of(op)));
      finding.related.push_back(evidence(dtypes.integer, "dtype of the input"));
    }
  });
}

}  // namespace

extern constinit const Rule grad_integer_tangent{
    .id = "grad-integer-tangent",
    .title = "tangent rule given for an integer input",
    .rationale =
        "Integers have no tangent: frameworks hand such a rule a placeholder (JAX's `float0`) or "
        "never call it. A rule that computes with it raises for the first user who differentiates, "
        "and one that treats an index as a number adds nonsense to the gradient. Often the rules "
        "stand one place off, and the input beside it has the null that belongs here.",
    .example =
        R"({"name": "take", "inputs": [{"name": "x", "dtypes": ["f32"]}, {"name": "index", "dtypes": ["i32"]}], "jvp": {"kind": "per_input", "rules": [{"name": "dx"}, {"name": "dindex"}]}})",
    .fix = "register null for the integer input",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "input with a stated dtype of an operator that has one JVP rule for each input",
    .needs = {Key::operators, Key::jvp, Key::rules, Key::inputs},
    .check = check,
};

}  // namespace opseal
