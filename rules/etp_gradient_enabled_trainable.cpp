#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact etp = op[Key::etp];
    const Fact enabled = etp[Key::gradient_enabled];
    const Fact x = etp[Key::x_index];
    const Fact trainables = etp[Key::trainables];
    if (!enabled.is_truth() || !x.said() || !trainables.is_map()) return;
    sink.inspected();
    if (!enabled.truth() || !x || trainables.size() == 0) return;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "gradient enabled for an operator with x at input " + std::to_string(x.count()) +
                     " and " + plural(trainables.size(), "trainable parameter"),
                 evidence(enabled, "gradient enabled here"));
    finding.related.push_back(evidence(trainables, "parameters said here" + site_of(op)));
    finding.related.push_back(evidence(x, "x said here"));
  });
}

extern constinit const Rule etp_gradient_enabled_trainable{
    .id = "etp-gradient-enabled-trainable",
    .title = "gradient is enabled through an operator that has both an input and weights",
    .rationale =
        "The flag lets the search for paths from a weight to a hidden state go through this "
        "operator. "
        "It is meant for operators that hand their argument on, as an elementwise one does. "
        "Through "
        "an operator with weights of its own, the path of an earlier weight is composed with rules "
        "that cannot express it, and that weight's gradient is counted twice; with the flag off, "
        "the "
        "earlier weight is left out and a diagnostic says so.",
    .example =
        R"({"name": "my_dense", "etp": {"trainables": {"weight": 1}, "x_index": 0, "gradient_enabled": true}})",
    .fix = "register it without `gradient_enabled`",
    .severity = Severity::error,
    .inspects = "eligibility-trace operator with the flag, x and its parameters said",
    .needs = {Key::etp, Key::gradient_enabled, Key::trainables, Key::x_index},
    .check = check,
};

}  // namespace opseal
