#include <algorithm>
#include <tuple>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/two_dumps.h"

namespace opseal {
namespace {

constexpr Key bounds[] = {Key::max_ulp, Key::max_relative, Key::max_absolute};

struct Row {
  std::uint64_t key = 0;
  std::uint64_t code = 0;
  Fact kernel;

  auto identity() const { return std::tie(key, code); }
};

// The kernels of an operator that say a precision, by what they are selected by and the code that
// they run.
std::vector<Row> rows_of(const Registered& registered, NamesByManifest& names) {
  std::vector<Row> rows;
  for (const Fact kernel : registered.item[Key::kernels].items()) {
    if (!kernel[Key::precision].said()) continue;
    const std::uint64_t code =
        kernel[Key::symbol].name() * std::uint64_t{31} + kernel[Key::function][Key::name].name();
    rows.push_back({kernel_key(kernel, names.of(registered.manifest)), code, kernel});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.identity() < b.identity(); });
  return rows;
}

bool is_audited(const Fact& precision) {
  return precision.is_null() || precision[Key::audited].truth();
}

// What an unaudited claim says of a kernel, beyond what the audit found; empty where it agrees.
std::string new_claim(const Fact& then, const Fact& now) {
  for (const Key bound : bounds) {
    const Fact claimed = now[bound];
    if (!claimed.is_number()) continue;
    const Fact audited = then[bound];
    if (!audited.is_number() || audited.number() != claimed.number()) {
      return "bound `" + std::string(to_text(bound)) + "`";
    }
  }
  if (now[Key::bit_stable].truth() && !then[Key::bit_stable].truth()) return "`bit_stable`";
  return {};
}

// The code was changed, so that the old audit says nothing about it.
bool is_other_code(const Fact& then, const Fact& now) {
  const Fact old_revision = then[Key::revision];
  const Fact revision = now[Key::revision];
  return old_revision.is_text() && revision.is_text() && old_revision.name() != revision.name();
}

void compare(Sink& sink, const RegisteredPair& pair, const Fact& before, const Fact& after) {
  const Fact then = before[Key::precision];
  const Fact now = after[Key::precision];
  if (!is_audited(then) || is_other_code(before, after)) return;
  sink.inspected();
  if (is_audited(now)) return;
  const std::string claim = new_claim(then, now);
  if (claim.empty()) return;
  Finding& finding =
      sink.add(subject_of(pair.after.manifest, pair.after.item),
               "unaudited claim of " + claim + " for " + decision_text(after) + ", expected " +
                   (then.is_null() ? "`null`: audited, no bound" : "what the audit found"),
               evidence(now, "claimed here" + site_of(after)));
  finding.related.push_back(evidence(then, "audited in the first dump" + site_of(before)));
}

// Rows that have no twin in their dump, and one in the other.
void check_pair(Sink& sink, const RegisteredPair& pair, NamesByManifest& names) {
  const std::vector<Row> before = rows_of(pair.before, names);
  const std::vector<Row> after = rows_of(pair.after, names);
  const auto by_identity = [](const Row& a, const Row& b) { return a.identity() < b.identity(); };
  for (auto row = before.begin(); row != before.end();) {
    const auto own = std::equal_range(row, before.end(), *row, by_identity);
    const auto other = std::equal_range(after.begin(), after.end(), *row, by_identity);
    if (own.second - own.first == 1 && other.second - other.first == 1) {
      compare(sink, pair, row->kernel, other.first->kernel);
    }
    row = own.second;
  }
}

void check(const Facts& facts, Sink& sink) {
  NamesByManifest names;
  for (const RegisteredPair& pair : pair_operators(facts).pairs) check_pair(sink, pair, names);
}

}  // namespace

extern constinit const Rule precision_overwritten{
    .id = "precision-overwritten",
    .title = "audited precision was replaced by a claim that nobody audited",
    .rationale =
        "Somebody measured the kernel and wrote down what holds, which may be that nothing can be "
        "promised. A later fill of the whole table put a bound there. Whoever picks kernels by "
        "their stated precision now picks one that was found unable to keep it, and gets results "
        "outside the bound.",
    .example =
        R"({"before": {"opseal_manifest": 1, "operators": [{"name": "sum", "kernels": [{"platform": "cpu", "precision": null}]}]}, "after": {"opseal_manifest": 1, "operators": [{"name": "sum", "kernels": [{"platform": "cpu", "precision": {"max_ulp": 4, "audited": false}}]}]}})",
    .fix = "let a fill touch only rows that nobody audited, or audit the new claim",
    .severity = Severity::error,
    .two_dumps = true,
    .inspects = "kernel of both dumps whose precision was audited in the first and is said in both",
    .needs = {Key::operators, Key::kernels, Key::precision},
    .check = check,
};

}  // namespace opseal
