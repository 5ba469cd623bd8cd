#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/operand_dtypes.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact etp = op[Key::etp];
    const Fact representation = etp[Key::x_representation];
    const Fact x = etp[Key::x_index];
    if (!representation.said() || x.is_null()) return;
    OperandDtypes dtypes = dtypes_in(etp[Key::x_dtypes]);
    if (!dtypes.said && x.is_count()) dtypes = input_dtypes(op, x.count());
    if (!dtypes.said) return;
    sink.inspected();
    if (!dtypes.integer || representation) return;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "x takes " + quote(dtypes.integer.text()) + " and has no representation rule",
                 evidence(representation, "said to be absent here"));
    finding.related.push_back(evidence(dtypes.integer, "dtype said here" + site_of(op)));
  });
}

extern constinit const Rule etp_int_x_repr{
    .id = "etp-int-x-repr",
    .title = "operator with an integer x has no representation rule for it",
    .rationale =
        "Some algorithms keep a decaying average of x. An integer x, such as the indices of an "
        "embedding, has no meaningful average (and no floating-point tangent): the operator must "
        "say "
        "how to turn it into numbers, for example into one-hot rows. Without the rule the trace is "
        "an average of indices, cut to integers.",
    .example =
        R"({"name": "my_embedding", "etp": {"x_index": 0, "x_dtypes": ["i32"], "x_representation": null}})",
    .fix = "register a representation rule for x",
    .severity = Severity::error,
    .inspects = "eligibility-trace operator whose x has its dtypes and representation rule said",
    .needs = {Key::etp, Key::x_representation},
    .check = check,
};

}  // namespace opseal
