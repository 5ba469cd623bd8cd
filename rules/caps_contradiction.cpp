#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Every input is said to be contiguous.
bool all_contiguous(const Fact& inputs) {
  if (inputs.size() == 0 || !inputs.is_list()) return false;
  for (const Fact operand : inputs.items()) {
    if (!operand[Key::layout].is("contiguous")) return false;
  }
  return true;
}

void judge(const Fact& manifest, const Fact& op, const Fact& kernel, Sink& sink) {
  const Fact broadcast = kernel[Key::capabilities][Key::requires_broadcast];
  if (!broadcast.is_truth()) return;
  const Fact strided = kernel[Key::capabilities][Key::strided_input];
  const bool contiguous = all_contiguous(op[Key::inputs]);
  if (!strided.is_truth() && !contiguous) return;
  sink.inspected();
  if (!broadcast.truth()) return;
  const bool refuses = strided.is_truth() && !strided.truth();
  if (!refuses && !contiguous) return;
  Finding& finding =
      sink.add(subject_of(manifest, op),
               "kernel " + decision_text(kernel) + " requires broadcast inputs and " +
                   (refuses ? "takes no strided ones" : "the operator takes contiguous ones only"),
               evidence(broadcast, "required here" + site_of(kernel)));
  finding.related.push_back(refuses
                                ? evidence(strided, "strided inputs excluded here")
                                : evidence(op[Key::inputs], "layouts stated here" + site_of(op)));
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (is_active_kernel(kernel)) judge(manifest, op, kernel, sink);
    }
  });
}

}  // namespace

extern constinit const Rule caps_contradiction{
    .id = "caps-contradiction",
    .title = "capabilities of a kernel that no input can meet",
    .rationale =
        "A broadcast input is read with a stride of 0. A kernel that requires one and takes no "
        "strided inputs is never chosen for any call: it is dead weight where the flags are "
        "checked, and where only one of them is, it reads past the end of the buffer.",
    .example = R"({"name": "add", "kernels": [{"platform": "cpu", "capabilities": )"
               R"({"requires_broadcast": true, "strided_input": false}}]})",
    .fix = "let `strided_input` be true, or drop `requires_broadcast`",
    .severity = Severity::error,
    .inspects = "kernel that says whether it requires broadcast and takes strided inputs",
    .needs = {Key::operators, Key::kernels, Key::capabilities, Key::requires_broadcast},
    .check = check,
};

}  // namespace opseal
