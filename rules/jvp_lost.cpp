#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/operand_dtypes.h"
#include "rules/two_dumps.h"

namespace opseal {

// A tangent can flow: there is a rule for some input, or a function for all.
static bool gives_tangents(const Fact& jvp) {
  if (!jvp[Key::kind].is("per_input")) return jvp.present();
  for (const Fact rule : jvp[Key::rules].items()) {
    if (!rule.said() || rule.present()) return true;
  }
  return false;
}

static bool is_zero(const Fact& jvp) { return jvp[Key::kind].is("zero"); }

// Slots are the same inputs in both dumps.
static bool same_inputs(const Fact& before, const Fact& after) {
  const Stated<CountRange> then = operand_count(before[Key::inputs]);
  const Stated<CountRange> now = operand_count(after[Key::inputs]);
  return then && now && then->exact() && now->exact() && then->min == now->min;
}

static void add(Sink& sink, const RegisteredPair& pair, std::string message, const Fact& now,
                const Fact& then) {
  Finding& finding = sink.add(subject_of(pair.after.manifest, pair.after.item), std::move(message),
                              evidence(now, "the second dump" + site_of(pair.after.item)));
  finding.related.push_back(evidence(then, "the first dump" + site_of(pair.before.item)));
  // Its author says that it was meant.
  if (pair.after.item[Key::differentiable].is_truth() &&
      !pair.after.item[Key::differentiable].truth()) {
    finding.severity = Severity::warning;
  }
}

static void check_slots(Sink& sink, const RegisteredPair& pair, const Fact& then, const Fact& now) {
  if (!same_inputs(pair.before.item, pair.after.item)) return;
  const std::uint32_t inputs = operand_count(pair.after.item[Key::inputs])->min;
  FactRange rules = now[Key::rules].items();
  auto rule = rules.begin();
  std::uint32_t slot = 0;
  for (const Fact old_rule : then[Key::rules].items()) {
    const bool there = rule != rules.end();
    const Fact new_rule = there ? *rule : Fact();
    // A rule behind the last input was never called.
    if (slot < inputs && old_rule.present() && (!there || new_rule.is_null())) {
      add(sink, pair,
          "no JVP rule for " + input_text(pair.after.item, slot) + ", expected " +
              function_text(old_rule),
          there ? new_rule : now[Key::rules], old_rule);
    }
    if (there) ++rule;
    ++slot;
  }
}

static void check(const Facts& facts, Sink& sink) {
  for (const RegisteredPair& pair : pair_operators(facts).pairs) {
    const Fact then = pair.before.item[Key::jvp];
    const Fact now = pair.after.item[Key::jvp];
    if (!then.said() || !now.said()) continue;
    sink.inspected();
    if (!gives_tangents(then)) continue;
    const bool replaced = pair.after.item[Key::linearization].present();
    if (now.is_null()) {
      if (replaced) continue;
      add(sink, pair, "no JVP, expected kind " + quote(then[Key::kind].text()), now, then);
    } else if (is_zero(now) && !is_zero(then)) {
      add(sink, pair, "JVP of kind `zero`, expected " + quote(then[Key::kind].text()), now, then);
    } else if (then[Key::kind].is("per_input") && now[Key::kind].is("per_input") && !replaced) {
      check_slots(sink, pair, then, now);
    }
  }
}

extern constinit const Rule jvp_lost{
    .id = "jvp-lost",
    .title = "JVP rule of the first dump is gone in the second",
    .rationale =
        "Code that differentiated through the operator stops working where the whole JVP is gone. "
        "Where only the rule of one input is gone, nothing raises: that input contributes no "
        "tangent any more, and gradients that used to be right are plausible numbers that are "
        "wrong.",
    .example =
        R"({"before": {"opseal_manifest": 1, "operators": [{"name": "mv", "jvp": {"kind": "linear"}}]}, "after": {"opseal_manifest": 1, "operators": [{"name": "mv", "jvp": null}]}})",
    .fix = "register the rule again, or say that the operator is not differentiable any more",
    .severity = Severity::error,
    .two_dumps = true,
    .inspects = "operator of both dumps whose JVP both say",
    .needs = {Key::operators, Key::jvp},
    .check = check,
};

}  // namespace opseal
