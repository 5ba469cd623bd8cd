#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

constexpr std::size_t most_places = 4;

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    const Fact predicate = dispatch[Key::predicate];
    const Fact claimed = predicate[Key::kinds];
    const Fact refused = predicate[Key::refused];
    const Fact table = dispatch[Key::table];
    if (!all_read(claimed) || !table[Key::entries].is_list()) return;
    // Who lists refusals asked kind by kind, and says nothing about the others.
    if (refused.said() && !all_read(refused)) return;
    sink.inspected();
    KindSet accepted;
    accepted.add_all(claimed);
    accepted.add_members(dispatch[Key::exceptions]);
    accepted.seal();
    KindSet asked;
    asked.add_all(refused);
    asked.seal();
    std::vector<std::string> names;
    std::vector<Fact> places;
    for (const Fact entry : table[Key::entries].items()) {
      const Fact kind = entry[Key::kind];
      if (!kind.is_text() || accepted.may_have(kind.text())) continue;
      if (refused.is_list() && !asked.has(kind.text())) continue;
      names.emplace_back(kind.text());
      places.push_back(kind);
    }
    if (names.empty()) return;
    Finding& finding =
        sink.add(dispatch_subject(dispatch),
                 plural(names.size(), "launchable kind") +
                     " that the predicate does not accept: " + quote_list(names),
                 evidence(places.front(), "launcher listed here" + part_site(table)));
    // Without a list of refusals the kinds that the predicate accepts may not all be listed.
    if (!refused.is_list()) finding.severity = Severity::warning;
    finding.related.push_back(
        evidence(claimed, "accepted kinds listed here" + part_site(predicate)));
    for (std::size_t at = 1; at < places.size() && at < most_places; ++at) {
      finding.related.push_back(evidence(places[at], "launcher listed here too"));
    }
  });
}

}  // namespace

extern constinit const Rule launch_without_claim{
    .id = "launch-without-claim",
    .title = "dispatch table has a kernel that the support predicate refuses",
    .rationale =
        "The kernel is written, built and shipped, and the predicate says no, so the work goes to "
        "the fallback. The result is right, so no test fails; only a benchmark shows that one kind "
        "runs ten times slower than its neighbours.",
    .example = R"({"operator": "matvec", "backend": "metal", "predicate": {"kinds": ["Q8_0"]},)"
               R"( "table": {"entries": [{"kind": "Q8_0", "kernel": "mv_q8_0"},)"
               R"( {"kind": "IQ4_XS", "kernel": "mv_iq4_xs"}], "default": null}})",
    .fix =
        "let the predicate accept the kind, or take its branch out of the dispatch; better, derive "
        "both from one table; a manifest may name it under `exceptions`",
    .severity = Severity::error,
    .inspects = "operator with the kinds of a predicate and the entries of its dispatch table",
    .needs = {Key::dispatch, Key::predicate, Key::table, Key::entries},
    .check = check,
};

}  // namespace opseal
