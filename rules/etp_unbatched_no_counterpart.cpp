#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact etp = op[Key::etp];
    const Fact batched = etp[Key::batched];
    const Fact x = etp[Key::x_index];
    const Fact counterpart = etp[Key::counterpart];
    // Without an x there is nothing that a batch is mapped over.
    if (!batched.is_truth() || !x.is_count() || !counterpart.said()) return;
    sink.inspected();
    if (batched.truth() || counterpart || op[Key::batching][Key::kind].is("counterpart")) return;
    Finding& finding = sink.add(subject_of(manifest, op),
                                "unbatched operator without a counterpart that serves a batch",
                                evidence(counterpart, "said to be absent here"));
    finding.related.push_back(evidence(batched, "unbatched" + site_of(op)));
  });
}

extern constinit const Rule etp_unbatched_no_counterpart{
    .id = "etp-unbatched-no-counterpart",
    .title = "unbatched operator drops out of online learning under `vmap`",
    .rationale =
        "Mapped over a batch, an unbatched operator is replaced by its batched counterpart, which "
        "keeps the eligibility-trace rules. Without one, `vmap` dissolves it into plain operations "
        "that no algorithm recognises: its weight silently leaves the traces and is not trained, "
        "with at best a warning.",
    .example = R"({"name": "my_mv", "etp": {"x_index": 0, "batched": false, "counterpart": null}})",
    .fix = "register the batched operator and name it as the counterpart",
    .severity = Severity::warning,
    .inspects = "eligibility-trace operator with an x whose batching and counterpart are said",
    .needs = {Key::etp, Key::batched, Key::counterpart, Key::x_index},
    .check = check,
};

}  // namespace opseal
