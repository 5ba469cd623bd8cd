#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/digest.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/same_operator.h"
#include "rules/unread.h"

namespace opseal {
namespace {

struct Row {
  // What callers choose apart from where it runs: variant of the parameters, versions.
  std::uint64_t asked = 0;
  // Platform and backend.
  std::uint64_t decision = 0;
  Name tag = Names::missing;
  // Index of the operator's row.
  std::size_t row = 0;
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

bool is_tagged(const Fact& op) {
  for (const Fact kernel : op[Key::kernels].items()) {
    if (kernel[Key::semantics].is_text()) return true;
  }
  return false;
}

// What the registry decides by couldn't be read: the kernel may stand at any decision point.
bool is_anywhere(const Fact& kernel) {
  return !kernel.said() || is_unread(kernel[Key::platform]) || is_unread(kernel[Key::backend]) ||
         is_unread(kernel[Key::params]) || is_unread(kernel[Key::versions]);
}

class Operator {
 public:
  void add(const Fact& op, std::size_t place, PlatformNames& names) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (is_anywhere(kernel)) known_ = false;
      const Fact semantics = kernel[Key::semantics];
      if (!semantics.is_text() && !is_unread(semantics)) continue;
      if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
      Row row;
      row.row = place;
      row.asked = hash_of(kernel[Key::params]) * 31 + hash_of(kernel[Key::versions]);
      row.decision = hash_text(names.of(kernel[Key::platform]).name) +
                     std::uint64_t{kernel[Key::backend].name()} * 0x9e3779b97f4a7c15;
      row.tag = semantics.name();
      row.kernel = kernel;
      rows_.push_back(row);
    }
  }

  // To be called once, after all rows were added.
  void seal() {
    if (!known_) rows_.clear();
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
  bool split(const Point& a, const Point& b, Row& first, Row& second) const {
    if (a.size() > 8 || b.size() > 8) return false;
    bool found = false;
    for (std::size_t i = a.first; i < a.end; ++i) {
      for (std::size_t j = b.first; j < b.end; ++j) {
        if (rows_[i].tag == rows_[j].tag) return false;
        // A tag that couldn't be read may be the one they have in common.
        if (rows_[i].tag == Names::missing || rows_[j].tag == Names::missing) return false;
        if (found || never_meet(rows_[i].kernel, rows_[j].kernel)) continue;
        first = rows_[i];
        second = rows_[j];
        found = true;
      }
    }
    return found;
  }

 private:
  std::vector<Row> rows_;
  bool known_ = true;
};

class SplitCheck {
 public:
  explicit SplitCheck(Sink& sink) : sink_(sink) {}

  void judge(OperatorRowIterator first, OperatorRowIterator end) {
    Operator kernels;
    std::size_t place = 0;
    for (auto row = first; row != end; ++row)
      kernels.add(row->op, place++, names_of(row->manifest));
    kernels.seal();
    kernels.for_each_asked([&](const std::vector<Point>& points) {
      sink_.inspected();
      // The point with the fewest tags says most precisely what the operator means.
      const auto least =
          std::min_element(points.begin(), points.end(),
                           [](const Point& a, const Point& b) { return a.size() < b.size(); });
      for (const Point& point : points) {
        Row one;
        Row other;
        if (&point == &*least || !kernels.split(*least, point, one, other)) continue;
        if (other.kernel.index() < one.kernel.index()) std::swap(one, other);
        const OperatorRow& row = *(first + static_cast<std::ptrdiff_t>(other.row));
        report(row, one.kernel, other.kernel);
        break;
      }
    });
  }

 private:
  PlatformNames& names_of(const Fact& manifest) {
    return names_.try_emplace(manifest.index(), manifest).first->second;
  }

  void report(const OperatorRow& row, const Fact& first, const Fact& second) {
    Finding& finding =
        sink_.add(subject_of(row.manifest, row.op),
                  "kernel for " + decision_text(second) + " has the semantics " +
                      quote(second[Key::semantics].text()) + ", the one for " +
                      decision_text(first) + " has " + quote(first[Key::semantics].text()),
                  evidence(second[Key::semantics], "one meaning" + site_of(second)));
    finding.related.push_back(
        evidence(first[Key::semantics], "another meaning of the same operator" + site_of(first)));
  }

  Sink& sink_;
  std::unordered_map<std::uint32_t, PlatformNames> names_;
};

void check(const Facts& facts, Sink& sink) {
  SplitCheck split(sink);
  for_each_same_operator(facts, is_tagged, [&](OperatorRowIterator first, OperatorRowIterator end) {
    split.judge(first, end);
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
