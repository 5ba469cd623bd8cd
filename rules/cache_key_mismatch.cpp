#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// A shortened digest is the same key.
bool same_key(std::string_view key, std::string_view recomputed) {
  constexpr std::size_t shortest = 8;
  if (key.size() < shortest) return key == recomputed;
  return recomputed.starts_with(key) ||
         (recomputed.size() >= shortest && key.starts_with(recomputed));
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    for (const Fact entry : cache[Key::entries].items()) {
      const Fact key = entry[Key::key];
      const Fact recomputed = entry[Key::recomputed_key];
      if (!key.is_text() || !recomputed.is_text()) continue;
      sink.inspected();
      if (same_key(key.text(), recomputed.text())) continue;
      Finding& finding = sink.add(
          entry_subject(cache, entry),
          "stands under the key " + quote(key.text()) + ", expected " + quote(recomputed.text()),
          evidence(key, "key of the entry"));
      finding.related.push_back(evidence(recomputed, "key that belongs to what it holds"));
    }
  });
}

}  // namespace

extern constinit const Rule cache_key_mismatch{
    .id = "cache-key-mismatch",
    .title = "cache entry under a key that its content doesn't have",
    .rationale =
        "A look-up makes the key anew from the source, the flags and so on, and takes whatever "
        "stands under it for the result. An entry under another's key is served for that other: "
        "after a copy by hand, a change of a source that the key should have followed, or a build "
        "whose parts were not those that the key was made from. Programs then run old or foreign "
        "code without a word.",
    .example = R"({"name": "kernels", "entries": [{"name": "mv", "key": "0b31f62c9d5e4a70",)"
               R"( "recomputed_key": "5f0e8c1d2b3a4968"}]})",
    .fix = "delete the entry and let it be built again",
    .severity = Severity::error,
    .inspects = "cache entry of which the key is known and was made again",
    .needs = {Key::caches, Key::recomputed_key},
    .check = check,
};

}  // namespace opseal
