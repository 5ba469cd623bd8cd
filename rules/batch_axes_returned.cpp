#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact batching = op[Key::batching];
    if (!batching[Key::function].present()) return;
    const Fact several = op[Key::multiple_results];
    if (!several.is_truth()) return;
    sink.inspected();
    const Fact said = batching[Key::results];
    if (several.truth() || !said.is("inputs")) return;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "batching rule " + function_text(batching[Key::function]) +
                     " hands back the axes of all its operands for the axis of its one result",
                 evidence(said, "a tuple stands here, an axis or `None` is asked for"));
    finding.related.push_back(evidence(batching, "registered here" + site_of(op)));
  });
}

}  // namespace

extern constinit const Rule batch_axes_returned{
    .id = "batch-axes-returned",
    .title = "batching rule hands back the axes that it was given",
    .rationale =
        "A batching rule of JAX returns the result and its mapped axis: a number, or `None` where "
        "the result isn't mapped. The axes that it is handed are a tuple with one for each "
        "operand. Returned as they came for a primitive with one result, they fail deep inside "
        "JAX, for every `vmap` over code that holds the primitive.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax", "operators": [{"name": "check", "multiple_results": false, )"
        R"("batching": {"kind": "custom", "results": "inputs", "function": {"name": "check_batch"}}}]})",
    .fix = "return the axis of the result, such as `axes[0]`, or `None` where it has none",
    .severity = Severity::error,
    .inspects =
        "batching rule that is a function, of a primitive of which the number of results is known",
    .needs = {Key::operators, Key::batching, Key::multiple_results},
    .check = check,
};

}  // namespace opseal
