#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// One field alone can't run into another.
bool has_one_field(const Fact& cache) {
  const Fact parameters = cache[Key::parameters];
  const Fact fields = parameters.is_list() ? parameters : cache[Key::inputs];
  return fields.is_list() && fields.size() < 2;
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Fact separated = cache[Key::separated];
    if (!separated.is_truth()) return;
    sink.inspected();
    if (separated.truth() || has_one_field(cache)) return;
    Finding& finding =
        sink.add(cache_subject(cache), "fields of the key are joined without a mark between them",
                 evidence(separated, "said to be unseparated here" + key_site(cache)));
    if (cache[Key::inputs].is_list()) {
      finding.related.push_back(evidence(cache[Key::inputs], "fields listed here"));
    }
  });
}

}  // namespace

extern constinit const Rule cache_key_unseparated{
    .id = "cache-key-unseparated",
    .title = "cache key whose fields run into each other",
    .rationale =
        "If fields are joined without a tag, a length or a mark, different builds can have one "
        "text: source `ab` for target `c` and source `a` for target `bc` give the same key, and "
        "the second is served the library of the first.",
    .example = R"({"name": "kernels", "separated": false, "inputs": ["source", "architecture"]})",
    .fix =
        "hash each field with its name and its length before it, and raise the schema of the key",
    .severity = Severity::warning,
    .inspects = "cache of which it is said whether its fields are separated",
    .needs = {Key::caches, Key::separated},
    .check = check,
};

}  // namespace opseal
