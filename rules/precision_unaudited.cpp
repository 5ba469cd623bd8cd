#include <string>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// A claim that somebody may rely on. Not to be bit-stable is none.
Fact claim_of(const Fact& precision) {
  if (const Fact stable = precision[Key::bit_stable]; stable.truth()) return stable;
  for (const Key key : {Key::max_ulp, Key::max_relative, Key::max_absolute}) {
    if (precision[key].is_number()) return precision[key];
  }
  return {};
}

// What shows that nobody checked the claim, or nothing.
Fact gap_of(const Fact& precision) {
  const Fact audited = precision[Key::audited];
  if (audited.is_truth() && !audited.truth()) return audited;
  const Fact evidence = precision[Key::evidence];
  if (evidence.is_list() && evidence.size() == 0) return evidence;
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    std::vector<std::string> kernels;
    Fact first_claim;
    Fact first_gap;
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact precision = kernel[Key::precision];
      if (!precision.is_object()) continue;
      if (!precision[Key::audited].is_truth() && !precision[Key::evidence].is_list()) continue;
      const Fact claim = claim_of(precision);
      if (!claim) continue;
      sink.inspected();
      const Fact gap = gap_of(precision);
      if (!gap) continue;
      if (kernels.empty()) {
        first_claim = claim;
        first_gap = gap;
      }
      kernels.push_back(decision_text(kernel));
    }
    if (kernels.empty()) return;
    const std::size_t count = kernels.size();
    if (kernels.size() > 6) kernels.resize(6);
    std::string message = plural(count, "kernel") + " with a precision claim and no " +
                          (first_gap.is_truth() ? "audit" : "evidence") + ": " +
                          join(kernels, ", ");
    if (count > kernels.size())
      message += " and " + std::to_string(count - kernels.size()) + " more";
    Finding& finding = sink.add(subject_of(manifest, op), std::move(message),
                                evidence(first_claim, "first claim" + site_of(op)));
    finding.related.push_back(evidence(first_gap, "said to be unchecked here"));
  });
}

}  // namespace

extern constinit const Rule precision_unaudited{
    .id = "precision-unaudited",
    .title = "precision claim that nobody checked",
    .rationale =
        "A bound on the error of a kernel, or the promise of equal bits, is used to choose kernels "
        "and to set the tolerance of tests. If it was written down without a measurement, nobody "
        "knows whether it holds: a choice made by it can lose accuracy that the caller asked for.",
    .example = R"({"name": "exp", "kernels": [{"platform": "gpu",)"
               R"( "precision": {"max_ulp": 2, "audited": false}}]})",
    .fix =
        "measure the claim against a reference and name the record in `evidence`, or take it back",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "kernel with a precision claim of which it is said whether it was checked",
    .needs = {Key::operators, Key::kernels, Key::precision},
    .check = check,
};

}  // namespace opseal
