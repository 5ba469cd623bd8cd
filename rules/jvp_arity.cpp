#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

// JAX zips rules with inputs; what another engine does with a rule too many nobody said.
static bool pairs_from_the_left(const Fact& manifest) {
  const Fact system = manifest[Key::system];
  return system.is("jax") || system.is("brainevent") || system.is("braintrace");
}

static void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact jvp = op[Key::jvp];
    if (!jvp[Key::kind].is("per_input")) return;
    const Fact rules = jvp[Key::rules];
    const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
    if (!rules.is_list() || !inputs) return;
    sink.inspected();
    const std::uint32_t count = rules.size();
    if (inputs->has(count)) return;
    Finding& finding = sink.add(subject_of(manifest, op),
                                plural(count, "JVP rule") + " for " + to_text(*inputs, "input"),
                                evidence(rules, "rules counted here"));
    finding.related.push_back(evidence(op[Key::inputs], "inputs counted here" + site_of(op)));
    if (count > inputs->max && pairs_from_the_left(manifest)) {
      finding.fix = count - inputs->max == 1
                        ? "remove the surplus rule: rules are paired with inputs from the left, so "
                          "the last one is never called"
                        : "remove the surplus rules: rules are paired with inputs from the left, "
                          "so the last ones are never called";
    }
  });
}

extern constinit const Rule jvp_arity{
    .id = "jvp-arity",
    .title = "number of JVP rules differs from the number of inputs",
    .rationale =
        "Forward-mode differentiation pairs the rules of an operator with its inputs. JAX does so "
        "from the left and stops at the shorter list: a surplus rule is never called, and with a "
        "rule too few an input contributes no tangent. Nothing raises. The gradient is a plausible "
        "number, and wrong, or the rules stand one place off from the inputs that they are for.",
    .example =
        R"({"name": "mv", "inputs": 3, "jvp": {"kind": "per_input", "rules": [null, null, null, null]}})",
    .fix = "register exactly one rule, or an explicit null, for each input",
    .severity = Severity::error,
    .inspects = "operator with per-input JVP rules and a stated number of inputs",
    .needs = {Key::operators, Key::jvp, Key::inputs},
    .check = check,
};

}  // namespace opseal
