#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opseal/digest.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

struct Row {
  // What callers choose apart from where it runs: variant of the parameters, versions.
  std::uint64_t asked = 0;
  // Platform and backend.
  std::uint64_t decision = 0;
  Name tag = Names::missing;
  Fact kernel;
};

// Dtypes of two kernels that no call can choose between.
bool never_meet(const Fact& a, const Fact& b) {
  const Fact first = a[Key::dtypes];
  const Fact second = b[Key::dtypes];
  if (!all_read(first) || !all_read(second)) return false;
  if (first.size() > 256 || second.size() > 256) return false;
  for (const Fact dtype : first.items()) {
    if (list_has(second, dtype.text())) return false;
  }
  return true;
}

// Rows [first, end) of one decision point.
struct Point {
  std::size_t first = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - first; }
};

class Operator {
 public:
  Operator(const Fact& op, PlatformNames& names) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!kernel[Key::semantics].is_text() || !is_active_kernel(kernel)) continue;
      if (kernel[Key::stub].truth()) continue;
      Row row;
      row.asked = hash_of(kernel[Key::params]) * 31 + hash_of(kernel[Key::versions]);
      row.decision = hash_text(names.of(kernel[Key::platform]).name) +
                     std::uint64_t{kernel[Key::backend].name()} * 0x9e3779b97f4a7c15;
      row.tag = kernel[Key::semantics].name();
      row.kernel = kernel;
      rows_.push_back(row);
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      if (a.asked != b.asked) return a.asked < b.asked;
      return a.decision < b.decision;
    });
  }

  // Calls `visit(points)` for each thing that a caller can ask for and that several decision points
  // serve.
  template <typename Visit>
  void for_each_asked(Visit visit) const {
    std::vector<Point> points;
    for (std::size_t at = 0; at < rows_.size();) {
      Point point{at, at};
      while (point.end < rows_.size() && rows_[point.end].asked == rows_[at].asked &&
             rows_[point.end].decision == rows_[at].decision) {
        ++point.end;
      }
      points.push_back(point);
      at = point.end;
      if (at < rows_.size() && rows_[at].asked == rows_[point.first].asked) continue;
      if (points.size() > 1) visit(points);
      points.clear();
    }
  }

  // Kernels of two points with different tags, where the points have no tag in common and one call
  // can reach both. One that serves several tags side by side chooses among them by itself.
  bool split(const Point& a, const Point& b, Fact& first, Fact& second) const {
    if (a.size() > 8 || b.size() > 8) return false;
    bool found = false;
    for (std::size_t i = a.first; i < a.end; ++i) {
      for (std::size_t j = b.first; j < b.end; ++j) {
        if (rows_[i].tag == rows_[j].tag) return false;
        if (found || never_meet(rows_[i].kernel, rows_[j].kernel)) continue;
        first = rows_[i].kernel;
        second = rows_[j].kernel;
        found = true;
      }
    }
    return found;
  }

 private:
  std::vector<Row> rows_;
};

void check(const Facts& facts, Sink& sink) {
  std::optional<PlatformNames> names;
  std::uint32_t entered = 0;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    if (!op[Key::kernels].is_list()) return;
    if (!names || entered != manifest.index()) names.emplace(manifest);
    entered = manifest.index();
    const Operator kernels(op, *names);
    kernels.for_each_asked([&](const std::vector<Point>& points) {
      sink.inspected();
      // The point with the fewest tags says most precisely what the operator means.
      const auto least =
          std::min_element(points.begin(), points.end(),
                           [](const Point& a, const Point& b) { return a.size() < b.size(); });
      for (const Point& point : points) {
        Fact first;
        Fact second;
        if (&point == &*least || !kernels.split(*least, point, first, second)) continue;
        if (second.index() < first.index()) std::swap(first, second);
        Finding& finding =
            sink.add(subject_of(manifest, op),
                     "kernel for " + decision_text(second) + " has the semantics " +
                         quote(second[Key::semantics].text()) + ", the one for " +
                         decision_text(first) + " has " + quote(first[Key::semantics].text()),
                     evidence(second[Key::semantics], "one meaning" + site_of(second)));
        finding.related.push_back(evidence(
            first[Key::semantics], "another meaning of the same operator" + site_of(first)));
        break;
      }
    });
  });
}

}  // namespace

extern constinit const Rule op_semantics_split{
    .id = "op-semantics-split",
    .title = "operator that means different things on different backends",
    .rationale =
        "Callers name an operator and rely on one meaning of it; which kernel runs is decided by "
        "the machine. If one backend rotates interleaved pairs and another one rotates halves, or "
        "one returns NaN where the other drops it, the same model gives different numbers after a "
        "move, and nothing raises.",
    .example = R"({"name": "rope", "kernels": [)"
               R"({"platform": "cpu", "semantics": "rope-interleaved"},)"
               R"( {"platform": "gpu", "semantics": "rope-half"}]})",
    .fix =
        "give each meaning an operator of its own, or a variant of the parameters by which every "
        "backend chooses",
    .severity = Severity::error,
    .inspects = "operator with tagged kernels on two backends or more",
    .needs = {Key::operators, Key::kernels, Key::semantics},
    .check = check,
};

}  // namespace opseal
