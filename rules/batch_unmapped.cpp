#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact batching = op[Key::batching];
    if (!batching[Key::function].present()) return;
    // The one operand of a rule that is asked is mapped.
    const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
    if (inputs && inputs->max == 1) return;
    sink.inspected();
    const Fact checked = batching[Key::checked];
    if (!checked.is_truth() || checked.truth()) return;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "batching rule " + function_text(batching[Key::function]) +
                     " takes every operand for a mapped one: nowhere it asks whether an axis is "
                     "`None`",
                 evidence(checked, "the axis is used here"));
    finding.related.push_back(evidence(batching, "registered here" + site_of(op)));
  });
}

}  // namespace

extern constinit const Rule batch_unmapped{
    .id = "batch-unmapped",
    .title = "batching rule takes operands for mapped that may not be",
    .rationale =
        "Under `vmap` some operands of a call are mapped over and others are the same for all of "
        "the batch; a batching rule gets `None` for the axis of those. One that moves the axis of "
        "each operand, or takes the size of the batch from a certain one, works as long as all "
        "are mapped, and fails, or mixes up axes, for `vmap(f, in_axes=(0, None))`.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax", "operators": [{"name": "stack", "inputs": 2, )"
        R"("batching": {"kind": "custom", "checked": false, "function": {"name": "stack_batch"}}}]})",
    .fix =
        "ask for each axis whether it is `batching.not_mapped` (`None`), or let "
        "`batching.bdim_at_front` make all operands mapped",
    .severity = Severity::warning,
    .inspects = "batching rule that is a function, of a primitive with several operands",
    .needs = {Key::operators, Key::batching},
    .check = check,
};

}  // namespace opseal
