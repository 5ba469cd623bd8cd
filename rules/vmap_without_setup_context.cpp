#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact separated = op[Key::separated];
    const Fact batching = op[Key::batching];
    if (!manifest[Key::system].is("torch-autograd") || !separated.is_truth() || !batching) return;
    sink.inspected();
    if (separated.truth()) return;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "rule for `vmap`, and no `setup_context`: its forward takes the context itself",
                 evidence(batching, "the rule that is never reached"));
    finding.related.push_back(evidence(op[Key::inputs], "the forward" + site_of(op)));
  });
}

}  // namespace

extern constinit const Rule vmap_without_setup_context{
    .id = "vmap-without-setup-context",
    .title = "function has a rule for vmap, and no setup_context",
    .rationale =
        "`torch.func` (vmap, grad, jacrev) takes only those `torch.autograd.Function`s whose "
        "forward gets no context and that fill it in a `setup_context` of their own. Of any other "
        "it raises before it looks for a rule, so that `vmap` or `generate_vmap_rule` in such a "
        "class never has an effect.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch-autograd", "operators": [{"name": "Scale", "batching": {"kind": "custom"}, "separated": false}]})",
    .fix =
        "take `ctx` out of the forward and fill it in `setup_context(ctx, inputs, output)`, also a "
        "static method",
    .severity = Severity::error,
    .inspects = "function with its own backward and a rule for vmap",
    .needs = {Key::operators, Key::batching, Key::separated},
    .check = check,
};

}  // namespace opseal
