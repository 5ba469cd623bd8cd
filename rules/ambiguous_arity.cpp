#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "opseal/digest.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/dtype_words.h"
#include "rules/kernel_key.h"
#include "rules/same_operator.h"

namespace opseal {
namespace {

// What tells kernels apart beside their dtypes.
bool selects_besides_dtypes(Key key) {
  switch (key) {
    case Key::backend:
    case Key::versions:
    case Key::params:
    case Key::priority:
    case Key::semantics:
    case Key::source:
    case Key::capabilities:
      return true;
    default:
      return false;
  }
}

std::uint64_t key_without_dtypes(const Fact& kernel, PlatformNames& names) {
  std::uint64_t hash = hash_text(names.of(kernel[Key::platform]).name);
  for (const Fact member : kernel.items()) {
    // A sum, since members may stand in any order.
    if (selects_besides_dtypes(member.key())) {
      hash += hash_of(member) * (2 * static_cast<std::uint64_t>(member.key()) + 1);
    }
  }
  return hash;
}

struct Row {
  std::uint64_t key = 0;
  std::uint32_t arity = 0;
  Fact kernel;
};

// The one length of all signatures, or 0: a kernel with several takes optional operands.
std::uint32_t arity_of(const Fact& signatures) {
  std::uint32_t arity = 0;
  if (!all_dtypes_read(signatures)) return 0;
  for (const Fact signature : signatures.items()) {
    if (signature.size() == 0 || (arity != 0 && signature.size() != arity)) return 0;
    arity = signature.size();
  }
  return arity;
}

// Operands that may be left out, or repeated, explain several lengths.
bool may_vary(const Fact& operands) {
  if (!operands.said()) return false;
  const Stated<CountRange> count = operand_count(operands);
  return !count || !count->exact();
}

bool has_signatures(const Fact& op) {
  for (const Fact kernel : op[Key::kernels].items()) {
    if (kernel[Key::signatures].size() > 0) return true;
  }
  return false;
}

// Rows [first, end) of one operator of one manifest.
void judge(OperatorRowIterator first_row, OperatorRowIterator end_row, PlatformNames& names,
           std::vector<Row>& rows, Sink& sink) {
  rows.clear();
  bool inputs_said = true;
  for (auto row = first_row; row != end_row; ++row) {
    if (may_vary(row->op[Key::inputs]) || may_vary(row->op[Key::outputs])) return;
    inputs_said = inputs_said && row->op[Key::inputs].said();
    for (const Fact kernel : row->op[Key::kernels].items()) {
      const Fact signatures = kernel[Key::signatures];
      if (signatures.size() == 0 || !is_active_kernel(kernel)) continue;
      const std::uint32_t arity = arity_of(signatures);
      if (arity != 0) rows.push_back({key_without_dtypes(kernel, names), arity, kernel});
    }
  }
  if (rows.size() < 2) return;
  // Not `stable_sort`, which allocates: a million operators pass here.
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.key != b.key ? a.key < b.key : a.kernel.index() < b.kernel.index();
  });
  sink.inspected();
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first;
    while (end < rows.size() && rows[end].key == rows[first].key) ++end;
    const auto other = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first),
                                    rows.begin() + static_cast<std::ptrdiff_t>(end),
                                    [&](const Row& row) { return row.arity != rows[first].arity; });
    if (other != rows.begin() + static_cast<std::ptrdiff_t>(end)) {
      Finding& finding =
          sink.add(subject_of(first_row->manifest, first_row->op),
                   "kernels " + decision_text(rows[first].kernel) + " have signatures of " +
                       plural(rows[first].arity, "dtype") + " and of " +
                       std::to_string(other->arity) + " under one id",
                   evidence(other->kernel[Key::signatures],
                            std::to_string(other->arity) + " here" + site_of(other->kernel)));
      finding.related.push_back(
          evidence(rows[first].kernel[Key::signatures],
                   std::to_string(rows[first].arity) + " here" + site_of(rows[first].kernel)));
      // The operator doesn't say that it always takes the same number.
      if (!inputs_said) finding.severity = Severity::warning;
    }
    first = end;
  }
}

void check(const Facts& facts, Sink& sink) {
  std::vector<Row> rows;
  std::unordered_map<std::uint32_t, PlatformNames> names;
  for_each_same_operator(
      facts, has_signatures, [&](OperatorRowIterator first, OperatorRowIterator end) {
        // Another manifest may be another release, whose kernels nobody asks by this id.
        while (first != end) {
          const Fact manifest = first->manifest;
          const auto next = std::find_if(first, end, [&](const OperatorRow& row) {
            return row.manifest.index() != manifest.index();
          });
          judge(first, next, names.try_emplace(manifest.index(), manifest).first->second, rows,
                sink);
          first = next;
        }
      });
}

}  // namespace

extern constinit const Rule ambiguous_arity{
    .id = "ambiguous-arity",
    .title = "one id with kernels of several arities",
    .rationale =
        "Who asks the registry by id alone gets whichever kernel a hash table yields first: "
        "another one in the next process. With another number of operands it reads what it was "
        "not handed, or the call is refused, now and then.",
    .example =
        R"({"name": "fused_7", "kernels": [{"platform": "cpu", "signatures": [["f32", "f32"]]},)"
        R"( {"platform": "cpu", "signatures": [["f32", "f32", "f32"]]}]})",
    .fix = "give each arity its own id, or make the number of operands part of the key",
    .severity = Severity::error,
    .inspects = "operator with two or more kernels that state signatures",
    .needs = {Key::operators, Key::kernels, Key::signatures},
    .check = check,
};

}  // namespace opseal
