#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

constexpr std::size_t most_places = 4;

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    const Fact claimed = dispatch[Key::predicate][Key::kinds];
    const Fact table = dispatch[Key::table];
    const Fact entries = table[Key::entries];
    // A default arm launches something for every kind; whether the right thing is for
    // `fallback-default-wrong` to say.
    if (!claimed.is_list() || !all_kinds_read(entries) || table[Key::default_].is_text()) return;
    sink.inspected();
    KindSet served;
    served.add_members(entries);
    served.add_members(dispatch[Key::exceptions]);
    served.seal();
    std::vector<std::string> names;
    std::vector<Fact> places;
    for (const Fact kind : claimed.items()) {
      if (!kind.is_text() || served.has(kind.text())) continue;
      names.emplace_back(kind.text());
      places.push_back(kind);
    }
    if (names.empty()) return;
    Finding& finding =
        sink.add(dispatch_subject(dispatch),
                 plural(names.size(), "claimed kind") + " without a launcher: " + quote_list(names),
                 evidence(places.front(), "claimed here" + part_site(dispatch[Key::predicate])));
    finding.related.push_back(evidence(entries, "launchers listed here" + part_site(table)));
    for (std::size_t at = 1; at < places.size() && at < most_places; ++at) {
      finding.related.push_back(evidence(places[at], "claimed here too"));
    }
    // Whether the table has a default arm is not said, and if it has one, something is launched.
    if (!table[Key::default_].said()) finding.severity = Severity::warning;
  });
}

}  // namespace

extern constinit const Rule claim_without_launch{
    .id = "claim-without-launch",
    .title = "support predicate accepts a kind that the dispatch table cannot launch",
    .rationale =
        "The scheduler asks the predicate and places the work on the backend. There the table has "
        "no entry for the kind: the call aborts, or falls back to a path on the host that nobody "
        "planned for, many times slower and without a message.",
    .example =
        R"({"operator": "matvec", "backend": "metal", "predicate": {"kinds": ["Q8_0", "Q5_0"]},)"
        R"( "table": {"entries": [{"kind": "Q8_0", "kernel": "mv_q8_0"}], "default": null}})",
    .fix =
        "add the launcher, or let the predicate refuse the kind; better, derive both from one "
        "table",
    .severity = Severity::error,
    .inspects = "operator with the kinds of a predicate and the entries of its dispatch table",
    .needs = {Key::dispatch, Key::predicate, Key::table, Key::entries},
    .check = check,
};

}  // namespace opseal
