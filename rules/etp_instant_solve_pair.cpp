#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact instant = op[Key::etp][Key::instant];
    const Fact solve = op[Key::etp][Key::solve];
    if (!instant.said() || !solve.said()) return;
    sink.inspected();
    if (instant.present() == solve.present()) return;
    const Fact& present = instant ? instant : solve;
    const Fact& absent = instant ? solve : instant;
    Finding& finding = sink.add(
        subject_of(manifest, op),
        quote(to_text(present.key())) + " rule and no " + quote(to_text(absent.key())) + " rule",
        evidence(absent, "said to be absent here"));
    finding.related.push_back(evidence(present, "registered here" + site_of(op)));
  });
}

extern constinit const Rule etp_instant_solve_pair{
    .id = "etp-instant-solve-pair",
    .title = "only one of the `instant` and `solve` rules is registered",
    .rationale =
        "The two rules go together where a trace has another shape than its parameter: one writes "
        "the trace in the compressed shape, the other turns it back into a gradient. With one of "
        "them, shapes no longer meet when a model is compiled, or a gradient of the trace's shape "
        "is "
        "applied to the parameter.",
    .example =
        R"({"name": "my_conv", "etp": {"instant": {"name": "conv_instant"}, "solve": null}})",
    .fix = "register both rules, or neither",
    .severity = Severity::error,
    .inspects = "eligibility-trace operator with both rules said",
    .needs = {Key::etp, Key::instant, Key::solve},
    .check = check,
};

}  // namespace opseal
