#include <cstdint>
#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

bool holds(const Fact& counts, std::uint32_t count) {
  for (const Fact one : counts.items()) {
    if (one.is_count() && one.count() == count) return true;
  }
  return false;
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact gradient = op[Key::gradient];
    const Fact kept = gradient[Key::writes];
    const Fact taken = gradient[Key::reads];
    if (!all_read(kept) || !all_read(taken) || kept.size() == 0) return;
    sink.inspected();
    for (const Fact one : taken.items()) {
      if (!one.is_count() || holds(kept, one.count())) continue;
      const Fact first = *kept.items().begin();
      Finding& finding =
          sink.add(subject_of(manifest, op),
                   "backward takes " + plural(one.count(), "saved value", "saved values") +
                       ", the forward saves " + std::to_string(first.count()),
                   evidence(one, "taken apart here"));
      finding.related.push_back(evidence(first, "saved here"));
      return;
    }
  });
}

}  // namespace

extern constinit const Rule saved_count_mismatch{
    .id = "saved-count-mismatch",
    .title = "backward takes another number of saved values than the forward saves",
    .rationale =
        "What a forward keeps (`ctx.save_for_backward(a, b, c)`, the residuals of a `custom_vjp`) "
        "its backward takes apart by position. With one name too many or too few Python raises a "
        "ValueError there, in the first backward and not before: inference and tests of the "
        "forward run.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch-autograd", "operators": [{"name": "Scale", "gradient": {"writes": [3], "reads": [2]}}]})",
    .fix = "save and take the same values in the same order",
    .severity = Severity::error,
    .inspects =
        "function with a backward of its own, of which it is known how many values it saves "
        "and takes",
    .needs = {Key::operators, Key::gradient, Key::writes, Key::reads},
    .check = check,
};

}  // namespace opseal
