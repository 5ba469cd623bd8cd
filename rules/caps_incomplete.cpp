#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Longer sentences are not searched.
constexpr std::size_t longest_constraint = 1000;

bool speaks_of_alignment(std::string_view text) {
  const std::string words = lower(text.substr(0, longest_constraint));
  return words.find("align") != words.npos && words.find("unaligned") == words.npos;
}

void judge(const Fact& manifest, const Fact& op, const Fact& kernel, Sink& sink) {
  const Fact capabilities = kernel[Key::capabilities];
  if (!capabilities.is_object()) return;
  const Fact constraints = capabilities[Key::constraints];
  const Fact grid = kernel[Key::launch][Key::grid];
  if (!all_read(constraints) && constraints.said()) return;
  if (constraints.size() == 0 && !grid.is_text()) return;
  sink.inspected();
  for (const Fact constraint : constraints.items()) {
    if (capabilities[Key::alignment_bytes].said() || !speaks_of_alignment(constraint.text())) {
      continue;
    }
    Finding& finding = sink.add(subject_of(manifest, op),
                                "kernel " + decision_text(kernel) + " says " +
                                    quote(constraint.text()) + " in words and no `alignment_bytes`",
                                evidence(constraint, "said in words here" + site_of(kernel)));
    finding.related.push_back(evidence(capabilities, "capabilities without a number"));
    break;
  }
  if (!grid.is("fixed") || constraints.size() > 0) return;
  Finding& finding = sink.add(
      subject_of(manifest, op),
      "kernel " + decision_text(kernel) + " has a fixed grid, and its capabilities bound no extent",
      evidence(capabilities, "capabilities stated here" + site_of(kernel)));
  finding.related.push_back(evidence(grid, "fixed here"));
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (is_active_kernel(kernel)) judge(manifest, op, kernel, sink);
    }
  });
}

}  // namespace

extern constinit const Rule caps_incomplete{
    .id = "caps-incomplete",
    .title = "requirement of a kernel that its capabilities do not state in a form to check",
    .rationale =
        "A dispatcher chooses by the stated capabilities. What is only written in words, or not at "
        "all, it can't test, so that the kernel is chosen for inputs which it then refuses, and no "
        "other kernel is tried.",
    .example = R"({"name": "mv", "kernels": [{"platform": "gpu", "capabilities": )"
               R"({"constraints": ["rows aligned to 16 bytes"]}}]})",
    .fix = "state `alignment_bytes`, and the extents that the kernel takes under `constraints`",
    .severity = Severity::note,
    .profile = Profile::audit,
    .inspects = "kernel with capabilities that states constraints or its launch grid",
    .needs = {Key::operators, Key::kernels, Key::capabilities},
    .check = check,
};

}  // namespace opseal
