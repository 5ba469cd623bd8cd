#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// Rows of one operator; each kind of a predicate is looked up in all of them.
constexpr std::size_t most_rows = 64;
constexpr std::uint32_t most_kinds = 2048;

// What one backend has kernels for.
struct BackendTable {
  Fact row;
  KindSet kinds;
  KindSet excused;
  // An arm serves whatever is not listed.
  bool all = false;
};

// Where the same function answers for several rows.
std::string identity_of(const Fact& predicate) {
  return std::string(predicate[Key::name].text()) + " " + place_text(predicate[Key::location]);
}

class OperatorCheck {
 public:
  OperatorCheck(const std::vector<Fact>& rows, Sink& sink) : rows_(rows), sink_(sink) {}

  void run() {
    for (const Fact row : rows_) {
      const Fact entries = row[Key::table][Key::entries];
      if (!row[Key::backend].is_text()) continue;
      // Of one that isn't known as a whole nothing is missing.
      if (!all_kinds_read(entries) || entries.size() > most_kinds) continue;
      BackendTable table;
      table.row = row;
      table.all = row[Key::table][Key::default_].is_text();
      table.kinds.add_members(entries);
      table.kinds.seal();
      table.excused.add_members(row[Key::exceptions]);
      table.excused.seal();
      tables_.push_back(std::move(table));
    }
    if (tables_.size() < 2) return;
    std::map<std::string, std::set<std::string_view>> speaks_for;
    for (const Fact row : rows_) {
      if (row[Key::predicate].is_object()) {
        speaks_for[identity_of(row[Key::predicate])].insert(row[Key::backend].text());
      }
    }
    std::set<std::string> told;
    for (const Fact row : rows_) {
      const Fact predicate = row[Key::predicate];
      const Fact takes = predicate[Key::takes_backend];
      if (!takes.is_truth() || takes.truth() || !all_read(predicate[Key::kinds])) continue;
      if (predicate[Key::kinds].size() > most_kinds) continue;
      // One that a backend has for itself need not be told which it is.
      const std::string identity = identity_of(predicate);
      if (row[Key::backend].is_text() && speaks_for[identity].size() < 2) continue;
      if (told.insert(identity).second) judge(row, predicate);
    }
  }

 private:
  void judge(const Fact& row, const Fact& predicate) {
    sink_.inspected();
    for (const BackendTable& table : tables_) {
      if (table.all) continue;
      std::vector<std::string> missing;
      Fact first;
      Fact other;
      for (const Fact kind : predicate[Key::kinds].items()) {
        if (table.kinds.has(kind.text()) || table.excused.may_have(kind.text())) continue;
        const auto serving = std::find_if(
            tables_.begin(), tables_.end(),
            [&kind](const BackendTable& one) { return one.all || one.kinds.has(kind.text()); });
        // What nobody has is another mistake.
        if (serving == tables_.end()) continue;
        if (!first.said()) {
          first = kind;
          other = serving->row;
        }
        missing.emplace_back(kind.text());
      }
      if (missing.empty()) continue;
      Finding& finding =
          sink_.add(std::string(row[Key::operator_].text()),
                    "the predicate is asked without the backend and accepts " +
                        quote_list(missing) + ", for which " + quote(other[Key::backend].text()) +
                        " has a kernel and " + quote(table.row[Key::backend].text()) + " has none",
                    evidence(first, "accepted here" + part_site(predicate)));
      finding.related.push_back(
          evidence(table.row[Key::table][Key::entries],
                   "all that this backend has" + part_site(table.row[Key::table])));
    }
  }

  const std::vector<Fact>& rows_;
  Sink& sink_;
  std::vector<BackendTable> tables_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    std::map<std::string_view, std::vector<Fact>> operators;
    for (const Fact row : facts.root(document)[Key::dispatch].items()) {
      if (row[Key::operator_].is_text()) operators[row[Key::operator_].text()].push_back(row);
    }
    for (const auto& [name, rows] : operators) {
      if (rows.size() >= 2 && rows.size() <= most_rows) OperatorCheck(rows, sink).run();
    }
  }
}

}  // namespace

extern constinit const Rule any_backend_predicate{
    .id = "any-backend-predicate",
    .title = "support predicate answers for all backends at once, and they differ",
    .rationale =
        "A planner that asks whether some backend supports an operator for a dtype gets a yes that "
        "another backend earned. Once the backend is chosen the answer is wrong for it: a cast or "
        "a fallback that would have been put in is left out, and the launch fails, or reads the "
        "bytes as another dtype.",
    .example =
        R"json({"opseal_manifest": 1, "dispatch": [{"operator": "mul", "predicate": {"name": "supported", "kinds": ["f32", "f16"], "takes_backend": false}}, {"operator": "mul", "backend": "cuda", "table": {"entries": [{"kind": "f32", "kernel": "mul_f32"}, {"kind": "f16", "kernel": "mul_f16"}]}}, {"operator": "mul", "backend": "vulkan", "table": {"entries": [{"kind": "f32", "kernel": "mul_f32"}]}}]})json",
    .fix = "hand the predicate the backend that was chosen, and ask that one's table",
    .severity = Severity::error,
    .inspects = "predicate of an operator that isn't told the backend, where two have tables",
    .needs = {Key::dispatch, Key::predicate, Key::takes_backend},
    .check = check,
};

}  // namespace opseal
