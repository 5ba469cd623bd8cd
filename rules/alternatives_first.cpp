#include <algorithm>
#include <cstdint>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

struct Row {
  std::uint64_t key = 0;
  Fact kernel;
};

// What the registry would call, or missing.
Name code_of(const Fact& kernel) {
  for (const Fact code :
       {kernel[Key::symbol], kernel[Key::target], kernel[Key::function][Key::name]}) {
    if (code.is_text()) return code.name();
  }
  return Names::missing;
}

// A cost that is said to be unknown ranks nothing. One that nobody said may be anything.
bool is_unpriced(const Fact& kernel) {
  const Fact known = kernel[Key::cost][Key::known];
  return known.is_truth() && !known.truth() && !kernel[Key::priority].said();
}

void judge(const Fact& manifest, const Fact& op, PlatformNames& names, std::vector<Row>& rows,
           Sink& sink) {
  rows.clear();
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
    if (!kernel[Key::cost].said() || code_of(kernel) == Names::missing) continue;
    rows.push_back({kernel_key(kernel, names), kernel});
  }
  if (rows.size() < 2) return;
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.key != b.key ? a.key < b.key : a.kernel.index() < b.kernel.index();
  });
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first;
    bool unpriced = true;
    const Row* sibling = nullptr;
    for (; end < rows.size() && rows[end].key == rows[first].key; ++end) {
      unpriced = unpriced && is_unpriced(rows[end].kernel);
      // Of the same function twice is `duplicate-kernel-at-key`.
      if (sibling == nullptr && code_of(rows[end].kernel) != code_of(rows[first].kernel)) {
        sibling = &rows[end];
      }
    }
    if (sibling != nullptr) {
      sink.inspected();
      if (unpriced) {
        const Fact kernel = rows[first].kernel;
        Finding& finding = sink.add(
            subject_of(manifest, op),
            plural(end - first, "kernel") + " at one key (" + decision_text(kernel) +
                "), none with a known cost, a priority or capabilities that tell them apart",
            evidence(sibling->kernel, "alternative" + site_of(sibling->kernel)));
        finding.related.push_back(evidence(kernel, "the first of them" + site_of(kernel)));
      }
    }
    first = end;
  }
}

void check(const Facts& facts, Sink& sink) {
  std::vector<Row> rows;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) judge(manifest, op, names, rows, sink);
  }
}

}  // namespace

extern constinit const Rule alternatives_first{
    .id = "alternatives-first",
    .title = "several kernels at one key, and nothing to rank them by",
    .rationale =
        "A dispatcher that cannot rank takes the first, and which that is depends on the order of "
        "registration. The best kernel may never run, and a test that registers its own kernel "
        "may test somebody else's.",
    .example =
        R"({"name": "mv", "kernels": [{"platform": "cpu", "symbol": "mv_a", "cost": {"known": false}},)"
        R"( {"platform": "cpu", "symbol": "mv_b", "cost": {"known": false}}]})",
    .fix = "state a cost or a priority for each, or the capabilities in which they differ",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "key with two or more different kernels that say whether their cost is known",
    .needs = {Key::operators, Key::kernels, Key::cost},
    .check = check,
};

}  // namespace opseal
