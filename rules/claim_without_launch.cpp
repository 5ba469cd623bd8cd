#include "opseal/rule.h"
#include "rules/dispatch_kernels.h"
#include "rules/last_resort.h"

namespace opseal {
namespace {

constexpr std::size_t most_places = 4;

struct Unserved {
  std::vector<std::string> names;
  std::vector<Fact> places;
};

// Claimed kinds that are in neither set.
Unserved unserved(const Fact& claimed, const KindSet& served, const KindSet& waived) {
  Unserved found;
  for (const Fact kind : claimed.items()) {
    if (!kind.is_text() || served.has(kind.text()) || waived.may_have(kind.text())) continue;
    found.names.emplace_back(kind.text());
    found.places.push_back(kind);
  }
  return found;
}

Finding& report(const Fact& dispatch, const Unserved& found, std::string_view lack, Sink& sink) {
  Finding& finding = sink.add(
      dispatch_subject(dispatch),
      plural(found.names.size(), "claimed kind") + " without a " + std::string(lack) + ": " +
          quote_list(found.names),
      evidence(found.places.front(), "claimed here" + part_site(dispatch[Key::predicate])));
  for (std::size_t at = 1; at < found.places.size() && at < most_places; ++at) {
    finding.related.push_back(evidence(found.places[at], "claimed here too"));
  }
  return finding;
}

KindSet exceptions_of(const Fact& dispatch) {
  KindSet waived;
  waived.add_members(dispatch[Key::exceptions]);
  waived.seal();
  return waived;
}

void check_table(const Fact& dispatch, Sink& sink) {
  const Fact claimed = dispatch[Key::predicate][Key::kinds];
  const Fact table = dispatch[Key::table];
  const Fact entries = table[Key::entries];
  // A default arm launches something for every kind; whether the right thing is for
  // `fallback-default-wrong` to say.
  if (!claimed.is_list() || !all_kinds_read(entries) || table[Key::default_].is_text()) return;
  sink.inspected();
  KindSet served;
  served.add_members(entries);
  served.seal();
  const Unserved found = unserved(claimed, served, exceptions_of(dispatch));
  if (found.names.empty()) return;
  Finding& finding = report(dispatch, found, "launcher", sink);
  finding.related.insert(finding.related.begin(),
                         evidence(entries, "launchers listed here" + part_site(table)));
  // Whether the table has a default arm is not said, and if it has one, something is launched.
  if (!table[Key::default_].said()) finding.severity = Severity::warning;
}

// Where no table is said, the registry is the table.
void check_kernels(const Fact& manifest, const Fact& dispatch, DispatchKernels& registry,
                   ChainEnds& chain_ends, Sink& sink) {
  const Fact claimed = dispatch[Key::predicate][Key::kinds];
  if (dispatch[Key::table].said() || !claimed.is_list()) return;
  const DispatchKernels::Taken* taken = registry.find(dispatch);
  if (taken == nullptr || !taken->known || taken->kernels == 0) return;
  // What the last of a chain claims is for `predicate-overclaims` to say.
  if (chain_ends.ends_chain(manifest, taken->op, taken->platform, dispatch[Key::backend])) return;
  sink.inspected();
  const Unserved found = unserved(claimed, taken->kinds, exceptions_of(dispatch));
  if (found.names.empty()) return;
  Finding& finding = report(dispatch, found, "kernel", sink);
  finding.related.insert(
      finding.related.begin(),
      evidence(taken->op[Key::kernels], "kernels registered here" + site_of(taken->op)));
}

void check(const Facts& facts, Sink& sink) {
  ChainEnds chain_ends;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (manifest[Key::dispatch].size() == 0) continue;
    DispatchKernels registry(manifest);
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      if (!dispatch.is_object()) continue;
      check_table(dispatch, sink);
      check_kernels(manifest, dispatch, registry, chain_ends, sink);
    }
  }
}

}  // namespace

extern constinit const Rule claim_without_launch{
    .id = "claim-without-launch",
    .title = "support predicate accepts a kind that nothing can launch",
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
    .inspects =
        "operator with the kinds of a predicate, and the entries of its dispatch table or the "
        "dtypes of its kernels",
    .needs = {Key::dispatch, Key::predicate, Key::kinds},
    .check = check,
};

}  // namespace opseal
