#include <set>
#include <utility>

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

// Names and keys of the entries of a cache.
using Keys = std::set<std::pair<Name, Name>>;

Keys keys_of(const Fact& cache) {
  Keys keys;
  for (const Fact entry : cache[Key::entries].items()) {
    if (entry[Key::recomputed_key].is_text()) {
      keys.emplace(entry[Key::name].name(), entry[Key::key].name());
    }
  }
  return keys;
}

void check(const Facts& facts, Sink& sink) {
  for_each_cache(facts, [&sink](const Fact&, const Fact& cache) {
    const Keys keys = keys_of(cache);
    for (const Fact entry : cache[Key::entries].items()) {
      const Fact key = entry[Key::key];
      const Fact recomputed = entry[Key::recomputed_key];
      if (!key.is_text() || !recomputed.is_text()) continue;
      sink.inspected();
      if (same_key(key.text(), recomputed.text())) continue;
      // A key made from sources outside the entry moves on with them. What is left behind is never
      // looked up, and where its successor stands, nothing more can be said.
      const bool outside = entry[Key::source_files].size() > 0;
      if (outside && keys.contains({entry[Key::name].name(), recomputed.name()})) continue;
      Finding& finding = sink.add(
          entry_subject(cache, entry),
          "stands under the key " + quote(key.text()) + ", expected " + quote(recomputed.text()),
          evidence(key, "key of the entry"));
      finding.related.push_back(evidence(
          recomputed, outside ? "key of the sources as they are now" : "key of what it holds"));
      if (outside) {
        finding.severity = Severity::warning;
        finding.fix = "build again: a look-up by the key of today's sources finds nothing";
      }
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
