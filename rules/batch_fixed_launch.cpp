#include <algorithm>
#include <array>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Ways of batching that call the kernel once for each element of the batch: a launch that is right
// for one element stays right.
bool calls_for_each(std::string_view method) {
  static constexpr std::array<std::string_view, 6> words = {"sequential", "loop", "scan",
                                                            "unroll",     "each", "none"};
  const std::string lowered = lower(method);
  return std::any_of(words.begin(), words.end(), [&lowered](std::string_view word) {
    return lowered.find(word) != lowered.npos;
  });
}

// The fact by which a whole batch reaches the kernel in one call, or not said.
Fact folding(const Fact& op, const Fact& kernel) {
  const Fact method = kernel[Key::launch][Key::vmap_method];
  if (method.is_text()) return calls_for_each(method.text()) ? Fact() : method;
  // The call says nothing, so the operator's rule decides.
  const Fact kind = op[Key::batching][Key::kind];
  if (kind.is("expand_dims") || kind.is("broadcast_all")) return kind;
  return {};
}

void check_kernel(const Fact& manifest, const Fact& op, const Fact& kernel, Sink& sink) {
  const Fact grid = kernel[Key::launch][Key::grid];
  const Fact row_coupled = kernel[Key::row_coupled];
  const bool batching_said =
      kernel[Key::launch][Key::vmap_method].said() || op[Key::batching].said();
  if (!batching_said || (!grid.said() && !row_coupled.said())) return;
  sink.inspected();
  const Fact folded = folding(op, kernel);
  if (!folded.said()) return;
  if (row_coupled.truth()) {
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "kernel " + decision_text(kernel) + " couples rows and batches by " +
                     quote(folded.text()) + ", one launch over the folded batch",
                 evidence(row_coupled, "rows coupled here"));
    finding.severity = Severity::error;
    finding.related.push_back(evidence(folded, "batch folded here" + site_of(op)));
  } else if (grid.is("fixed")) {
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "kernel " + decision_text(kernel) + " has a fixed grid and batches by " +
                     quote(folded.text()) +
                     ": one launch covers a part of the batch, unless the kernel loops over the "
                     "rest",
                 evidence(grid, "grid fixed here"));
    finding.related.push_back(evidence(folded, "batch folded here" + site_of(op)));
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (is_active_kernel(kernel)) check_kernel(manifest, op, kernel, sink);
    }
  });
}

}  // namespace

extern constinit const Rule batch_fixed_launch{
    .id = "batch-fixed-launch",
    .title = "batched call goes into one launch that was made for a single element",
    .rationale =
        "The batching method hands the kernel the whole batch in one call. A grid that is written "
        "as constants still covers one element only, and unless the kernel loops over the rest, as "
        "a "
        "persistent kernel does, that part of the output is never written. A kernel that couples "
        "rows (a scan, a stencil) reads across the border between elements. Nothing raises: the "
        "first element is right and the others are rubbish.",
    .example =
        R"({"name": "scan", "kernels": [{"platform": "gpu", "launch": {"grid": "fixed", "vmap_method": "broadcast_all"}}]})",
    .fix =
        "derive the grid from the shapes of the call, or batch with one call for each element "
        "(`sequential`)",
    .severity = Severity::warning,
    .inspects = "kernel whose launch grid or row coupling is said, and how its calls are batched",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
