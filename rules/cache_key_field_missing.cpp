#include "opseal/rule.h"
#include "rules/key_fields.h"

namespace opseal {
namespace {

std::string function_name(const Fact& function) {
  return quote(function[Key::name].text(function[Key::kind].text("function")));
}

// Somebody says that the functions are to use every field.
void check_required(const Fact& cache, Sink& sink) {
  for (const Fact function : cache[Key::functions].items()) {
    if (!all_read(function[Key::uses])) continue;
    sink.inspected();
    const std::vector<Fact> missing = unused_fields(cache, UsedFields(function));
    if (missing.empty()) continue;
    Finding& finding =
        sink.add(cache_subject(cache),
                 function_name(function) + " doesn't use " + quote_list(names_of(missing)) +
                     ", which the key is said to cover",
                 evidence(function[Key::name], "the function" + key_site(cache)));
    add_field_sites(missing, finding);
  }
}

// Equal keys must have equal hashes.
void check_agreement(const Fact& cache, Sink& sink) {
  const Fact equality = key_function(cache, "equality");
  const Fact hash = key_function(cache, "hash");
  if (!equality || !hash) return;
  sink.inspected();
  const UsedFields hashed(hash);
  std::vector<Fact> missing;
  for (const Fact& field : unused_fields(cache, UsedFields(equality))) {
    if (hashed.has(field)) missing.push_back(field);
  }
  if (missing.empty()) return;
  Finding& finding = sink.add(cache_subject(cache),
                              function_name(hash) + " uses " + quote_list(names_of(missing)) +
                                  ", which " + function_name(equality) + " doesn't compare",
                              evidence(equality[Key::name], "compared here"));
  finding.related.push_back(evidence(hash[Key::name], "hashed here"));
  add_field_sites(missing, finding);
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    if (!all_read(cache[Key::fields])) return;
    if (cache[Key::required].truth()) {
      check_required(cache, sink);
    } else {
      check_agreement(cache, sink);
    }
  });
}

}  // namespace

extern constinit const Rule cache_key_field_missing{
    .id = "cache-key-field-missing",
    .title = "type of a cache key whose comparison leaves out a field",
    .rationale =
        "Two requests that differ in a field which the comparison of the key leaves out are one "
        "entry to the cache: the second is served the kernel of the first. Where the hash uses a "
        "field that the comparison doesn't, equal keys have different hashes, and whether an entry "
        "is found depends on how many others there are.",
    .example = R"({"name": "ConvKey", "kind": "memory", "fields": ["dtype", "layout"], )"
               R"("functions": [{"name": "operator==", "kind": "equality", "uses": ["dtype"]}, )"
               R"({"name": "hash", "kind": "hash", "uses": ["dtype", "layout"]}]})",
    .fix =
        "compare and hash every field that decides what is built; say `except=FIELD: why` for one "
        "that doesn't",
    .severity = Severity::error,
    .inspects = "type of a key of which it is said which fields its functions use",
    .needs = {Key::caches, Key::fields, Key::functions, Key::uses},
    .check = check,
};

}  // namespace opseal
