#include <string_view>
#include <unordered_set>
#include <vector>

#include "opseal/one_slip.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// A near name costs a comparison with every operator, which a hostile input would ask for a million
// times.
constexpr std::size_t most_suggestions = 100;
constexpr std::size_t most_candidates = 10000;

// Shorter names are near to everything.
constexpr std::size_t shortest = 5;

// Names of the operators of one manifest.
class OperatorNames {
 public:
  explicit OperatorNames(const Fact& manifest) : complete_(all_read(manifest[Key::operators])) {
    for (const Fact op : manifest[Key::operators].items()) {
      const Fact name = op[Key::name];
      if (!name.is_text()) complete_ = false;
      add(name);
      for (const Fact alias : op[Key::aliases].items()) add(alias);
    }
  }
  bool has(std::string_view name) const {
    if (names_.contains(name)) return true;
    const std::size_t colons = name.rfind("::");
    return colons != name.npos && names_.contains(name.substr(colons + 2));
  }
  // The operator that was meant, or empty: a record may also be for a fused form that is no
  // operator of its own.
  std::string_view meant(std::string_view name) const {
    if (!complete_ || candidates_.size() > most_candidates || name.size() < shortest) return {};
    const std::string written = lower(name);
    for (const std::string_view candidate : candidates_) {
      // No slip: `matvec` beside `matmul`, `set_rows` beside `get_rows`, which a slip in the first
      // letter would seldom make.
      if (candidate.size() < shortest || candidate.size() > written.size() + 1) continue;
      const std::string other = lower(candidate);
      if (other.front() != written.front()) continue;
      if (other == written || one_slip_apart(other, written)) return candidate;
    }
    return {};
  }

 private:
  void add(const Fact& name) {
    if (!name.is_text()) return;
    names_.insert(name.text());
    if (candidates_.size() <= most_candidates) candidates_.push_back(name.text());
  }

  bool complete_ = false;
  std::unordered_set<std::string_view> names_;
  std::vector<std::string_view> candidates_;
};

bool is_empty_list(const Fact& list) { return list.is_list() && list.size() == 0; }

// The first statement of the record that has nothing in it, where nothing else is to be held
// against anything; or not said.
Fact nothing_to_hold(const Fact& dispatch) {
  if (is_empty_list(dispatch[Key::kinds])) return dispatch[Key::kinds];
  const Fact predicate = dispatch[Key::predicate];
  const Fact table = dispatch[Key::table];
  if (predicate[Key::refused].size() > 0 || table[Key::default_].is_text()) return {};
  // A table alone that is empty is `dispatch-empty`.
  if (is_empty_list(predicate[Key::kinds]) && is_empty_list(table[Key::entries])) {
    return predicate[Key::kinds];
  }
  return {};
}

// Says nothing but for whom it is.
bool is_bare(const Fact& dispatch) {
  for (const Fact member : dispatch.items()) {
    const bool address = member.key() == Key::operator_ || member.key() == Key::backend;
    if (!address) return false;
  }
  return true;
}

void check(const Facts& facts, Sink& sink) {
  std::size_t suggestions = 0;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const Fact records = manifest[Key::dispatch];
    if (records.size() == 0) continue;
    const OperatorNames operators(manifest);
    // Counting a list walks it.
    const bool has_operators = manifest[Key::operators].size() > 0;
    for (const Fact dispatch : records.items()) {
      if (!dispatch.is_object()) continue;
      sink.inspected();
      if (const Fact empty = nothing_to_hold(dispatch); empty.said()) {
        const bool kinds = empty == dispatch[Key::kinds];
        Finding& finding =
            sink.add(dispatch_subject(dispatch),
                     kinds ? "enumeration of kinds is empty, so that nothing is held against it"
                           : "predicate accepts 0 kinds and the table lists 0: nothing is compared",
                     evidence(empty, "empty here"));
        if (!kinds) {
          finding.related.push_back(evidence(dispatch[Key::table][Key::entries],
                                             "and here" + part_site(dispatch[Key::table])));
        }
        continue;
      }
      const Fact op = dispatch[Key::operator_];
      if (is_bare(dispatch)) {
        sink.add(dispatch_subject(dispatch), "record says neither predicate nor table nor look-ups",
                 evidence(op, "stated here"));
        continue;
      }
      if (!op.is_text() || !has_operators || operators.has(op.text())) continue;
      // Nobody wrote that record: the code asks for a name, of which `lookup-unregistered` judges.
      if (is_of_sources(manifest)) continue;
      if (++suggestions > most_suggestions) continue;
      const std::string_view meant = operators.meant(op.text());
      if (meant.empty()) continue;
      Finding& finding =
          sink.add(dispatch_subject(dispatch),
                   "record is for " + quote(op.text()) +
                       ", which no operator is called; did you mean " + quote(meant) + "?",
                   evidence(op, "named here"));
      finding.related.push_back(evidence(manifest[Key::operators], "operators listed here"));
      // By the spelling alone: the record may be for a fused form that is no operator.
      finding.severity = Severity::warning;
    }
  }
}

}  // namespace

extern constinit const Rule coverage_empty{
    .id = "coverage-empty",
    .title = "dispatch record that nothing can be held against",
    .rationale =
        "The record was written so that predicate and table are compared. With empty lists, or for "
        "an operator that does not exist, the comparison looks at nothing and passes: it would "
        "pass just the same if every kernel were missing. A filter with a slip in it looks like "
        "this, and so does an exporter that walked the wrong object.",
    .example = R"({"operator": "matvec", "backend": "metal", "predicate": {"kinds": []}, )"
               R"("table": {"entries": [], "default": null}, "kinds": []})",
    .fix = "mend the filter or the name by which the record was made, or drop the record",
    .severity = Severity::error,
    .inspects = "dispatch record",
    .needs = {Key::dispatch},
    .check = check,
};

}  // namespace opseal
