#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/operand_dtypes.h"

namespace opseal {
namespace {

// Whether the input takes part in differentiation as far as anybody said, and who says so.
struct InputVerdict {
  bool known = false;
  Fact floating;
  // An input that is floating-point in some calls only is often a truth value at heart (a spike).
  bool always = false;
};

InputVerdict judge(const Fact& op, std::uint32_t slot) {
  InputVerdict verdict;
  const Fact operand = item_at(op[Key::inputs], slot);
  const Fact differentiable = operand[Key::differentiable];
  if (differentiable.is_truth()) {
    verdict.known = true;
    verdict.always = true;
    if (differentiable.truth()) verdict.floating = differentiable;
    return verdict;
  }
  // A buffer that the operator writes is an input in name only.
  if (operand[Key::mutated].truth()) return verdict;
  const OperandDtypes dtypes = input_dtypes(op, slot);
  verdict.known = dtypes.said;
  verdict.floating = dtypes.floating;
  verdict.always = dtypes.all_floating;
  return verdict;
}

void check_operator(const Fact& manifest, const Fact& op, Sink& sink) {
  const Fact jvp = op[Key::jvp];
  if (!jvp[Key::kind].is("per_input") || op[Key::linearization]) return;
  const Fact differentiable = op[Key::differentiable];
  if (differentiable.is_truth() && !differentiable.truth()) return;
  const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
  // With another number of rules, slots and inputs don't correspond; that is for `jvp-arity`.
  if (!inputs || !inputs->exact() || inputs->min != jvp[Key::rules].size()) return;
  std::uint32_t slot = 0;
  for (const Fact rule : jvp[Key::rules].items()) {
    const std::uint32_t here = slot++;
    if (!rule.is_null()) continue;
    const InputVerdict verdict = judge(op, here);
    if (!verdict.known) continue;
    sink.inspected();
    if (!verdict.floating) continue;
    const bool marked = verdict.floating.is_truth();
    const std::string what =
        marked ? "which is said to be differentiable"
               : "which takes " + quote(verdict.floating.text()) +
                     (verdict.always ? "" : " beside dtypes that carry no tangent");
    Finding& finding =
        sink.add(subject_of(manifest, op), "no JVP rule for " + input_text(op, here) + ", " + what,
                 evidence(rule, "no rule here"));
    finding.related.push_back(
        evidence(verdict.floating, (marked ? "marked here" : "dtype said here") + site_of(op)));
    if (!verdict.always) finding.severity = Severity::note;
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(
      facts, [&sink](const Fact& manifest, const Fact& op) { check_operator(manifest, op, sink); });
}

}  // namespace

extern constinit const Rule jvp_hole{
    .id = "jvp-hole",
    .title = "no JVP rule for a floating-point input",
    .rationale =
        "A null in the place of a rule says that no tangent flows from that input, which is right "
        "for an index and wrong for a number. Differentiating with respect to such an input gives "
        "a gradient of exactly zero, without a word, and training goes on with it.",
    .example =
        R"({"name": "mul", "inputs": [{"name": "x", "dtypes": ["f32"]}, {"name": "y", "dtypes": ["f32"]}], "jvp": {"kind": "per_input", "rules": [{"name": "mul_jvp_x"}, null]}})",
    .fix = "write the rule; a manifest may say `\"differentiable\": false` at the input",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "input without a JVP rule whose dtype is said",
    .needs = {Key::jvp, Key::rules, Key::inputs},
    .check = check,
};

}  // namespace opseal
