#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact marked = op[Key::mutates_args];
    if (!manifest[Key::system].is("torch-autograd") || !all_read(marked)) return;
    for (const Fact written : op[Key::writes].items()) {
      if (!written.is_text()) continue;
      sink.inspected();
      if (list_has(marked, written.text())) continue;
      Finding& finding = sink.add(subject_of(manifest, op),
                                  "forward writes to its input " + quote(written.text()) +
                                      " and hands it back, without `ctx.mark_dirty` of it",
                                  evidence(written, "handed back here" + site_of(op)));
      finding.related.push_back(evidence(op[Key::writes], "the forward"));
      finding.fix = "call `ctx.mark_dirty(" + std::string(written.text()) +
                    ")` in the forward, or compute a new tensor";
    }
  });
}

}  // namespace

extern constinit const Rule forward_write_unmarked{
    .id = "forward-write-unmarked",
    .title = "forward of a function modifies an input in place, and doesn't mark it",
    .rationale =
        "A `torch.autograd.Function` that writes to an input has to say so by `ctx.mark_dirty`, "
        "before it hands the input back. Otherwise torch takes the result for a view of an input "
        "that nobody changed: the input keeps the history that it had, and of what is done with "
        "it, or in place with the result, gradients may miss this function without a word.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch-autograd", "operators": [{"name": "Scale", "writes": ["x"], "mutates_args": []}]})",
    .fix = "call `ctx.mark_dirty` with each input that the forward writes to",
    .severity = Severity::warning,
    .inspects = "input that the forward of a function with its own backward writes to",
    .needs = {Key::operators, Key::writes, Key::mutates_args},
    .check = check,
};

}  // namespace opseal
