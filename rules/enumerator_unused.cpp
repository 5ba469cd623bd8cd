#include <algorithm>
#include <string>
#include <vector>

#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// That one value of a list is named nowhere else means something only where the others are: code
// may get to its kernels by tables, by name or in another language.
constexpr std::uint32_t fewest_siblings = 5;
// Of a hundred values of one list.
constexpr std::uint32_t least_named = 90;

struct Unnamed {
  std::vector<std::string> names;
  std::vector<Fact> places;
  std::uint32_t named = 0;
};

Unnamed unnamed_in(const Fact& entries) {
  Unnamed found;
  for (const Fact entry : entries.items()) {
    if (entry[Key::mentioned].count() > 0) {
      ++found.named;
    } else {
      found.names.emplace_back(entry[Key::kind].text());
      found.places.push_back(entry[Key::kind]);
    }
  }
  return found;
}

bool is_said(const Fact& entries) {
  for (const Fact entry : entries.items()) {
    if (!entry[Key::kind].is_text() || !entry[Key::mentioned].is_count()) return false;
  }
  return entries.size() > fewest_siblings;
}

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    const Fact predicate = dispatch[Key::predicate];
    // A predicate may list a value in several switches.
    std::vector<std::string> told;
    for (const Fact tested : predicate[Key::tested].items()) {
      const Fact entries = tested[Key::entries];
      if (!is_said(entries)) continue;
      sink.inspected();
      Unnamed found = unnamed_in(entries);
      if (found.names.empty() || found.named < fewest_siblings ||
          found.named * 100 < entries.size() * least_named) {
        continue;
      }
      for (std::size_t at = 0; at < found.names.size(); ++at) {
        if (std::find(told.begin(), told.end(), found.names[at]) != told.end()) continue;
        told.push_back(found.names[at]);
        Finding& finding =
            sink.add(dispatch_subject(dispatch),
                     "the predicate accepts " + quote(found.names[at]) + " for " +
                         quote(tested[Key::expression].text()) +
                         ", which no other code of the backend names; it names the other " +
                         plural(found.named, "value"),
                     evidence(found.places[at], "accepted here" + part_site(predicate)));
        finding.related.push_back(evidence(entries, "accepted values listed here"));
      }
    }
  });
}

}  // namespace

extern constinit const Rule enumerator_unused{
    .id = "enumerator-unused",
    .title = "support predicate accepts a value that nothing else in the backend names",
    .rationale =
        "A value of an enumeration, a storage format for example, has its own code wherever it is "
        "taken apart: a case of a switch, a template argument, a row of a table. The predicate "
        "lists one that no such place has, while all its neighbours do. Work of that kind is "
        "placed on the backend and aborts there.",
    .example =
        R"({"operator": "matmul", "backend": "gpu", "predicate": {"tested": [{"expression": "a->type",)"
        R"( "entries": [{"kind": "Q4_0", "mentioned": 9}, {"kind": "Q4_1", "mentioned": 9},)"
        R"( {"kind": "Q5_0", "mentioned": 8}, {"kind": "Q5_1", "mentioned": 8}, {"kind": "Q6_K", "mentioned": 7},)"
        R"( {"kind": "Q2_K", "mentioned": 7}, {"kind": "Q3_K", "mentioned": 7}, {"kind": "Q4_K", "mentioned": 7},)"
        R"( {"kind": "Q5_K", "mentioned": 7}, {"kind": "Q8_K", "mentioned": 0}]}]}})",
    .fix = "let the predicate refuse the value, or add the code that serves it",
    .severity = Severity::warning,
    .inspects =
        "list of values that a predicate accepts by name, with how often other code names them",
    .needs = {Key::dispatch, Key::predicate, Key::tested, Key::mentioned},
    .check = check,
};

}  // namespace opseal
