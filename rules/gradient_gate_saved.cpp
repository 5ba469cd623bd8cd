#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact gradient = op[Key::gradient];
    if (!manifest[Key::system].is("torch-autograd") || !gradient[Key::function].said()) return;
    const Fact made = gradient[Key::local];
    for (const Fact name : gradient[Key::gate_reads].items()) {
      if (!name.is_text() || !made.is_list()) continue;
      sink.inspected();
      if (!list_has(made, name.text())) continue;
      Finding& finding =
          sink.add(subject_of(manifest, op),
                   "backward asks the saved tensor " + quote(name.text()) +
                       " whether it requires a gradient; the forward made it, so that it may say "
                       "no where the input needs one",
                   evidence(name, "asked here"));
      finding.related.push_back(evidence(op[Key::inputs], "the forward" + site_of(op)));
    }
  });
}

}  // namespace

extern constinit const Rule gradient_gate_saved{
    .id = "gradient-gate-saved",
    .title = "backward asks a tensor that the forward made whether it requires a gradient",
    .rationale =
        "The forward of a `torch.autograd.Function` runs without recording. A tensor that it makes "
        "of an input (flattened, contiguous, cast) requires no gradient, whatever the input does; "
        "where nothing had to be copied it may be the input itself, so that the answer depends on "
        "shapes and strides. A backward that goes by it then computes nothing, hands back none, "
        "and the model trains without that gradient.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch-autograd", "operators": [{"name": "Linear", "inputs": 2, "gradient": {"function": {"name": "backward"}, "gate_reads": ["x"], "local": ["x"]}}]})",
    .fix = "ask `ctx.needs_input_grad` for the input",
    .severity = Severity::warning,
    .inspects =
        "saved tensor of the forward's own that a backward asks whether it requires a "
        "gradient",
    .needs = {Key::operators, Key::gradient, Key::gate_reads, Key::local},
    .check = check,
};

}  // namespace opseal
