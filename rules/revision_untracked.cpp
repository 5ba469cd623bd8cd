#include <string>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// `0`, also as a digest of zeros: `0x0000`.
bool is_untracked(std::string_view revision) {
  if (revision.starts_with("0x") || revision.starts_with("0X")) revision.remove_prefix(2);
  return !revision.empty() && revision.find_first_not_of('0') == revision.npos;
}

struct Operator {
  Fact op;
  Fact first;
  std::vector<std::string> kernels;
  std::uint64_t count = 0;
};

// One finding for a registry that tracks nothing, else one for each operator with a kernel that was
// left out.
void report(const Fact& manifest, const std::vector<Operator>& untracked, Fact tracked,
            std::uint64_t kernels, Sink& sink) {
  if (untracked.empty()) return;
  if (!tracked) {
    sink.add(std::string(manifest[Key::system].text("registry")),
             kernels == 1
                 ? "the only kernel with a revision has `0`, which tracks nothing"
                 : "all " + plural(kernels, "kernel") + " have revision `0`, which tracks nothing",
             evidence(untracked.front().first, "first one" + site_of(untracked.front().op)));
    return;
  }
  for (const Operator& row : untracked) {
    std::string message = plural(row.count, "kernel") + " with revision " +
                          quote(row.first.text()) +
                          ", which tracks nothing: " + join(row.kernels, ", ");
    if (row.count > row.kernels.size()) {
      message += " and " + std::to_string(row.count - row.kernels.size()) + " more";
    }
    Finding& finding = sink.add(subject_of(manifest, row.op), std::move(message),
                                evidence(row.first, "untracked here" + site_of(row.op)));
    finding.related.push_back(evidence(tracked, "another kernel is tracked"));
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    std::vector<Operator> untracked;
    Fact tracked;
    std::uint64_t kernels = 0;
    for (const Fact op : manifest[Key::operators].items()) {
      Operator row{op, {}, {}, 0};
      for (const Fact kernel : op[Key::kernels].items()) {
        const Fact revision = kernel[Key::revision];
        if (!revision.is_text()) continue;
        ++kernels;
        if (!is_untracked(revision.text())) {
          if (!tracked) tracked = revision;
          continue;
        }
        if (row.count++ == 0) row.first = revision;
        if (row.kernels.size() < 6) row.kernels.push_back(decision_text(kernel));
      }
      if (row.count > 0) untracked.push_back(std::move(row));
    }
    sink.inspected(kernels);
    report(manifest, untracked, tracked, kernels, sink);
  }
}

}  // namespace

extern constinit const Rule revision_untracked{
    .id = "revision-untracked",
    .title = "kernel whose revision is not tracked",
    .rationale =
        "Measurements, tuning results and precision records are filed under the revision of a "
        "kernel, so that they stop counting when the kernel changes. A revision that never changes "
        "keeps all of them valid for ever: an edited kernel goes on being chosen by the figures of "
        "the old one.",
    .example = R"({"name": "exp", "kernels": [{"platform": "cpu", "revision": "0"}]})",
    .fix = "set the revision from a digest of the kernel's code and declaration",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "kernel with a revision",
    .needs = {Key::operators, Key::kernels, Key::revision},
    .check = check,
};

}  // namespace opseal
