#include "opseal/rule.h"
#include "rules/lookups.h"

namespace opseal {
namespace {

void judge(const Fact& manifest, const Fact& lookup, const LookedUp& registered,
           PlatformNames& names, Sink& sink) {
  const Fact platform = lookup[Key::platform];
  if (!lookup[Key::operator_].is_text() || !platform.is_text()) return;
  const Bearers& bearers = registered.of(lookup);
  // An operator or a table of that name may answer too.
  if (bearers.targets.empty() || !bearers.operators.empty() || !bearers.records.empty()) return;
  if (bearers.targets.size() > LookedUp::most_bearers || !registered.complete()) return;
  // The plugin of a device registers its own handlers only where the device is.
  if (!platform_was_visible(manifest, platform, names)) return;
  for (const Bearer& bearer : bearers.targets) {
    // Which registry it went to is not said.
    if (!bearer.row[Key::platform].is_text()) return;
    if (names.reaches(platform, bearer.row[Key::platform])) {
      sink.inspected();
      return;
    }
  }
  sink.inspected();
  const Bearer& bearer = bearers.targets.front();
  const Fact written = bearer.row[Key::platform];
  Finding& finding =
      sink.add(subject_of(bearer.manifest, bearer.row),
               "registered with the runtime of " + quote(written.text()) +
                   ", looked up in that of " + quote(platform.text()) + lookup_site(lookup),
               evidence(platform, "looked up here"));
  finding.related.push_back(evidence(written, "registered here" + site_of(bearer.row)));
}

void check(const Facts& facts, Sink& sink) {
  if (!facts.said[static_cast<std::size_t>(Key::lookups)]) return;
  const LookedUp registered(facts);
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (document.settings || manifest[Key::dispatch].size() == 0) continue;
    PlatformNames names(manifest);
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      for (const Fact lookup : dispatch[Key::lookups].items()) {
        judge(manifest, lookup, registered, names, sink);
      }
    }
  }
}

}  // namespace

extern constinit const Rule registry_duplicate_runtime{
    .id = "registry-duplicate-runtime",
    .title = "target registered with one runtime and looked up in another",
    .rationale =
        "Each runtime keeps its own table of handlers: the one that is linked into the framework, "
        "and one for each plugin. Registration with the first succeeds, and the call, which runs "
        "in the second, says that no such handler exists.",
    .example = R"({"opseal_manifest": 1, "system": "jax", "targets": [{"name": "mv", "platform": )"
               R"("cpu"}], "dispatch": [{"operator": "mv", "lookups": [{"operator": "mv", )"
               R"("platform": "CUDA"}]}]})",
    .fix = "register the handler with the runtime that looks it up, or with both",
    .severity = Severity::error,
    .inspects = "look-up of a target by platform",
    .needs = {Key::dispatch, Key::lookups, Key::targets, Key::platform},
    .check = check,
};

}  // namespace opseal
