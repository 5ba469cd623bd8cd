#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact freshness = cache[Key::freshness];
    if (!all_read(freshness) || freshness.size() == 0 || !outlives_process(cache)) return;
    sink.inspected();
    if (freshness.size() != 1 || !list_has(freshness, "none")) return;
    // A key that knows the source makes a new entry where that changes.
    const Fact parts = cache[Key::key_parts];
    if (parts.said() && parts.size() > 0) return;
    if (list_has(cache[Key::inputs], "source")) return;
    sink.add(cache_subject(cache),
             "an entry that is there is taken whatever it was built from, expected a digest of its "
             "sources in the name or beside it",
             evidence(freshness, "decided here" + key_site(cache)));
  });
}

extern constinit const Rule cache_never_stale{
    .id = "cache-never-stale",
    .title = "built library that is taken for good once it is there",
    .rationale =
        "Where the presence of a library alone decides whether it is built, an edited source, an "
        "update of the package and another compiler or device go unnoticed: the old code runs "
        "until somebody deletes the file.",
    .example = R"({"name": "ops", "kind": "disk", "freshness": ["none"]})",
    .fix =
        "name the library after a digest of its sources, flags and compiler, or leave it to the "
        "build system to decide",
    .severity = Severity::warning,
    .inspects = "cache on disk of which it is said how it judges its entries",
    .needs = {Key::caches, Key::freshness},
    .check = check,
};

}  // namespace opseal
