#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {

static void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact schema = cache[Key::schema];
    if (!schema.said() || !outlives_process(cache)) return;
    sink.inspected();
    if (!schema.is_null()) return;
    sink.add(cache_subject(cache), "key has no schema constant",
             evidence(schema, "said to be absent here" + key_site(cache)));
  });
}

extern constinit const Rule cache_key_schema{
    .id = "cache-key-schema",
    .title = "cache key without a version of its own",
    .rationale =
        "When the recipe of a key changes, entries made by the old recipe must stop matching. "
        "Without a version constant in the key they go on being found: a repaired key still serves "
        "what the broken one stored, until somebody wipes the cache.",
    .example = R"({"name": "kernels", "kind": "disk", "schema": null})",
    .fix = "hash a constant first, and raise it with every change of the recipe",
    .severity = Severity::warning,
    .inspects = "cache on disk of which it is said whether its key has a schema",
    .needs = {Key::caches, Key::schema},
    .check = check,
};

}  // namespace opseal
