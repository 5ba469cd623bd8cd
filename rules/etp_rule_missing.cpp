#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr Key required_rules[] = {Key::dt_to_t, Key::xy_to_dw, Key::init_drtrl, Key::init_pp};

// Under the name that the registry itself gives the rule.
std::string spelled(Key rule, const Fact& etp) {
  if (rule == Key::dt_to_t && etp[Key::spelling].is_text()) {
    return quote(etp[Key::spelling].text());
  }
  return quote(to_text(rule));
}

void check_operator(const Fact& manifest, const Fact& op, Sink& sink) {
  const Fact rules = op[Key::etp][Key::rules];
  if (!rules.is_object()) return;
  // `{}` says that there are none; a key that is left out beside others is not said.
  const bool none = rules.size() == 0;
  std::vector<std::string> missing;
  std::uint32_t present = 0;
  Fact where = rules;
  for (const Key key : required_rules) {
    const Fact rule = rules[key];
    if (rule) {
      ++present;
    } else if (none || rule.is_null()) {
      if (missing.empty() && rule.is_null()) where = rule;
      missing.push_back(spelled(key, op[Key::etp]));
    }
  }
  if (missing.empty() && present < std::size(required_rules)) return;
  sink.inspected();
  if (missing.empty()) return;
  Finding& finding = sink.add(
      subject_of(manifest, op),
      plural(missing.size(), "eligibility-trace rule") + " missing of 4: " + join(missing, ", "),
      evidence(where, "said to be absent here"));
  finding.related.push_back(evidence(op[Key::name], "needed by this operator" + site_of(op)));
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(
      facts, [&sink](const Fact& manifest, const Fact& op) { check_operator(manifest, op, sink); });
}

}  // namespace

extern constinit const Rule etp_rule_missing{
    .id = "etp-rule-missing",
    .title = "eligibility-trace operator lacks one of its four rules",
    .rationale =
        "An online-learning algorithm looks up all four rules (propagating the trace, turning it "
        "into a weight gradient, and the two initial traces) of every registered operator in the "
        "model. Registering an operator checks none of them, so the missing one turns up as a key "
        "error when a user compiles a model that contains the operator.",
    .example =
        R"({"name": "my_mm", "etp": {"rules": {"dt_to_t": {"name": "a"}, "xy_to_dw": {"name": "b"}, "init_drtrl": {"name": "c"}, "init_pp": null}}})",
    .fix = "register all four rules",
    .severity = Severity::error,
    .inspects = "eligibility-trace operator whose rules are said",
    .needs = {Key::etp, Key::rules},
    .check = check,
};

}  // namespace opseal
