#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// What one process can ask for in two ways. Versions, drivers and the environment of a compiler
// stay what they are while it runs, and whether an edited header must be seen is a choice.
constexpr std::string_view varying_inputs[] = {
    "source",        "specs",  "architecture", "flags",           "link_flags",
    "include_paths", "dtypes", "attributes",   "operator_schema", "options",
};

bool varies(std::string_view input) {
  for (const std::string_view word : varying_inputs) {
    if (word == input) return true;
  }
  return false;
}

using Caches = std::unordered_map<Name, Fact>;

// Caches of a manifest by name. A name that two of them bear names neither.
Caches caches_by_name(const Fact& manifest) {
  Caches caches;
  for (const Fact cache : manifest[Key::caches].items()) {
    if (!cache[Key::name].is_text()) continue;
    const auto [place, fresh] = caches.emplace(cache[Key::name].name(), cache);
    if (!fresh) place->second = Fact();
  }
  return caches;
}

void compare(const Fact& front, const Fact& back, Sink& sink) {
  const Fact inputs = front[Key::inputs];
  const Fact behind = back[Key::inputs];
  if (!front[Key::kind].is("memory") || back[Key::kind].is("memory")) return;
  if (!all_read(inputs) || !all_read(behind)) return;
  sink.inspected();
  std::vector<std::string> missing;
  // The words are a closed set, so a longer list repeats itself.
  std::uint32_t looked = 0;
  for (const Fact word : behind.items()) {
    if (++looked > 64) break;
    if (varies(word.text()) && !has_key_input(inputs, word.text()))
      missing.emplace_back(word.text());
  }
  if (missing.empty()) return;
  Finding& finding = sink.add(cache_subject(front),
                              "key lacks " + quote_list(missing) + ", which the cache " +
                                  quote(back[Key::name].text()) + " behind it tells apart",
                              evidence(inputs, "parts of the key in front" + key_site(front)));
  finding.related.push_back(evidence(behind, "parts of the key behind it" + key_site(back)));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!manifest[Key::caches].is_list()) continue;
    const Caches caches = caches_by_name(manifest);
    for (const Fact front : manifest[Key::caches].items()) {
      const auto back = caches.find(front[Key::backs].name());
      if (back == caches.end() || !back->second || back->second == front) continue;
      compare(front, back->second, sink);
    }
  }
}

}  // namespace

extern constinit const Rule cache_key_parity{
    .id = "cache-key-parity",
    .title = "memory cache whose key has fewer parts than that of the cache behind it",
    .rationale =
        "The cache in memory is asked first. What its key leaves out, the one on disk never gets "
        "to "
        "tell apart: after a first build with some flags, a second one with others is answered "
        "from memory with the first library. It happens only within one process, so a restart "
        "makes it go away.",
    .example = R"({"opseal_manifest": 1, "system": "engine", "caches": [)"
               R"({"name": "disk", "kind": "disk", "inputs": ["source", "flags"]},)"
               R"( {"name": "memory", "kind": "memory", "backs": "disk", "inputs": ["source"]}]})",
    .fix = "use the key of the cache on disk for the one in memory too",
    .severity = Severity::error,
    .inspects = "memory cache in front of another cache, both with stated key inputs",
    .needs = {Key::caches, Key::backs, Key::inputs},
    .check = check,
};

}  // namespace opseal
