#include "opseal/rule.h"
#include "rules/key_fields.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    if (!all_read(cache[Key::fields]) || cache[Key::required].truth()) return;
    Fact compared = key_function(cache, "equality");
    if (!compared) compared = key_function(cache, "order");
    if (!compared) return;
    sink.inspected();
    const Fact hash = key_function(cache, "hash");
    std::vector<Fact> missing;
    for (const Fact& field : unused_fields(cache, UsedFields(compared))) {
      // What is hashed and not compared is another rule's.
      if (!hash || !UsedFields(hash).has(field)) missing.push_back(field);
    }
    if (missing.empty()) return;
    Finding& finding =
        sink.add(cache_subject(cache),
                 quote(compared[Key::name].text("comparison")) + " doesn't compare " +
                     quote_list(names_of(missing)) + ", expected every field",
                 evidence(compared[Key::name], "compared here"));
    add_field_sites(missing, finding);
  });
}

}  // namespace

extern constinit const Rule cache_key_field_unused{
    .id = "cache-key-field-unused",
    .title = "type of a key with a field that its comparison ignores",
    .rationale =
        "Whoever adds a field to a descriptor means to tell things apart by it. Where the "
        "comparison was not extended, two descriptors that differ in nothing else are one key, and "
        "a cache serves what was built for the other. Some fields are left out on purpose, as a "
        "name for logs: a comment says so.",
    .example = R"({"name": "ConvKey", "kind": "memory", "fields": ["dtype", "layout"], )"
               R"("functions": [{"name": "operator==", "kind": "equality", "uses": ["dtype"]}]})",
    .fix =
        "compare the field too, or say above the function `// opseal: cache-key(except=FIELD: "
        "why)`",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "type of a key of which it is said which fields its comparison uses",
    .needs = {Key::caches, Key::fields, Key::functions, Key::uses},
    .check = check,
};

}  // namespace opseal
