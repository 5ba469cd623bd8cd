#include <cstdint>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

struct OpenCall {
  Fact op;
  Fact layout;
};

// All lowerings of one project: where most fix the layouts, its targets read arrays as they lie.
void look_at(const Fact& manifest, Sink& sink) {
  constexpr std::uint32_t enough = 2;
  std::uint32_t fixed = 0;
  Fact example;
  std::vector<OpenCall> open;
  for (const Fact op : manifest[Key::operators].items()) {
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact layout = kernel[Key::layout];
      if (layout.is("fixed")) {
        if (fixed++ == 0) example = layout;
      } else if (layout.is("open")) {
        open.push_back({op, layout});
      } else {
        continue;
      }
      sink.inspected();
    }
  }
  if (fixed < enough || open.size() >= fixed) return;
  for (const OpenCall& one : open) {
    Finding& finding =
        sink.add(subject_of(manifest, one.op),
                 "lowering leaves the layouts of its operands to the compiler, where " +
                     plural(fixed, "other lowering fixes", "other lowerings fix") + " them",
                 evidence(one.layout, "this call"));
    finding.related.push_back(evidence(example, "one that fixes them"));
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!document.settings && manifest[Key::system].is("jax")) look_at(manifest, sink);
  }
}

}  // namespace

extern constinit const Rule lowering_layout_open{
    .id = "lowering-layout-open",
    .title = "lowering doesn't fix the layouts of its operands",
    .rationale =
        "XLA is free to lay out an array in any order of its axes, and to do a transposition by "
        "calling another order the layout. A custom call without `operand_layouts` and "
        "`result_layouts` gets arrays in whatever layout that left them: a target that reads rows "
        "computes with permuted numbers, only under `jit` and only beside a transposition.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax", "operators": [)"
        R"({"name": "sum", "kernels": [{"platform": "cuda", "layout": "fixed"}]}, {"name": "max", "kernels": [{"platform": "cuda", "layout": "fixed"}]}, )"
        R"({"name": "min", "kernels": [{"platform": "cuda", "layout": "open"}]}]})",
    .fix = "give the call `operand_layouts` and `result_layouts`, as the others do",
    .severity = Severity::warning,
    .inspects = "lowering that writes a custom call",
    .needs = {Key::operators, Key::kernels, Key::layout},
    .check = check,
};

}  // namespace opseal
