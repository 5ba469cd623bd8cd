#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact jvp = op[Key::jvp];
    const Fact rules = jvp[Key::rules];
    const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
    if (!jvp[Key::kind].is("per_input") || !rules.is_list() || !inputs) return;
    sink.inspected();
    const std::uint32_t count = rules.size();
    if (inputs->has(count)) return;
    Finding& finding = sink.add(subject_of(manifest, op),
                                plural(count, "JVP rule") + " for " + to_text(*inputs, "input"),
                                evidence(rules, "rules counted here"));
    finding.related.push_back(evidence(op[Key::inputs], "inputs counted here" + site_of(op)));
    if (count > inputs->max) {
      finding.fix =
          "remove the surplus rule: rules are matched with inputs from the left, so the last " +
          std::string(count - inputs->max == 1 ? "one is" : "ones are") + " never called";
    }
  });
}

extern constinit const Rule jvp_arity{
    .id = "jvp-arity",
    .title = "number of JVP rules differs from the number of inputs",
    .rationale =
        "Forward-mode differentiation pairs the rules of an operator with its inputs from the left "
        "and stops at the "
        "shorter of the two. A surplus rule is never called; with a rule too few, an input "
        "contributes no tangent. "
        "Nothing raises: the gradient is a plausible number, and wrong.",
    .example =
        R"({"name": "mv", "inputs": 3, "jvp": {"kind": "per_input", "rules": [null, null, null, null]}})",
    .fix = "register exactly one rule, or an explicit null, for each input",
    .severity = Severity::error,
    .inspects = "operator with per-input JVP rules and a stated number of inputs",
    .needs = {Key::operators, Key::jvp, Key::inputs},
    .check = check,
};

}  // namespace opseal
