#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "rules/cache_keys.h"
#include "rules/declared_functions.h"

namespace opseal {
namespace {

struct Wanted {
  // The cache, where the manifest describes it.
  Fact cache;
  Fact functions;
  std::string subject;
};

void judge(const Wanted& wanted, const Fact& prefix, LibraryExports& exports, Sink& sink) {
  if (!exports.known() || !all_read(wanted.functions)) return;
  const FunctionNames names(wanted.functions, prefix, exports);
  if (!names.known()) return;
  sink.inspected();
  std::vector<std::string> missing;
  Fact first;
  for (const Fact function : wanted.functions.items()) {
    if (names.is_exported(function.text())) continue;
    if (missing.empty()) first = function;
    missing.push_back(names.symbol_of(function.text()));
  }
  if (missing.empty()) return;
  std::string message = "entry shall have " + plural(wanted.functions.size(), "function") +
                        ", its library lacks " + quote_list(missing);
  if (missing.size() == 1) message += exports.explain(missing.front());
  Finding& finding =
      sink.add(wanted.subject, std::move(message), evidence(first, "asked for here"));
  const Fact list = exports.content()[Key::exports];
  finding.related.push_back(
      evidence(list.said() ? list : exports.content(), "what the library exports"));
  const Fact inputs = wanted.cache[Key::inputs];
  if (all_read(inputs) && !has_key_input(inputs, "specs")) {
    finding.related.push_back(
        evidence(inputs, "the key is made of these, without `specs`" + key_site(wanted.cache)));
  }
}

class SupersetCheck {
 public:
  SupersetCheck(const Facts& facts, Sink& sink)
      : facts_(facts), sink_(sink), libraries_(facts), named_(libraries_) {}

  void run() {
    if (named_.empty()) return;
    for (const Document& document : facts_.documents) {
      if (document.settings || document.of_library != 0) continue;
      const Fact manifest = facts_.root(document);
      caches_.clear();
      described_.clear();
      for (const Fact cache : manifest[Key::caches].items()) {
        if (cache[Key::name].is_text()) caches_.emplace(cache[Key::name].name(), cache);
      }
      for (const Fact library : manifest[Key::libraries].items()) {
        described_.emplace(libraries_.content(library).index(), library);
        if (library[Key::cache].is_text()) judge_library(manifest, library);
      }
      for (const Fact cache : manifest[Key::caches].items()) {
        for (const Fact entry : cache[Key::entries].items()) judge_entry(manifest, cache, entry);
      }
    }
  }

 private:
  void judge_library(const Fact& manifest, const Fact& library) {
    if (!library[Key::functions].is_list()) return;
    const Fact own = libraries_.content(library);
    const Fact content =
        own[Key::exports].said() ? own : named_.find(manifest, library[Key::path].text());
    if (!content.said()) return;
    const auto cache = caches_.find(library[Key::cache].name());
    judge({cache == caches_.end() ? Fact() : cache->second, library[Key::functions],
           "cache " + std::string(library[Key::cache].text()) + ": " +
               std::string(library[Key::path].text())},
          library[Key::symbols_prefix], tables_.of(content), sink_);
  }

  void judge_entry(const Fact& manifest, const Fact& cache, const Fact& entry) {
    const Fact library = entry[Key::library];
    if (!library.is_text() || !entry[Key::functions].is_list()) return;
    std::string path(library.text());
    if (entry[Key::directory].is_text() && library.name() != entry[Key::directory].name()) {
      path = std::string(entry[Key::directory].text()) + '/' + path;
    }
    const Fact content = named_.find(manifest, path);
    if (!content.said()) return;
    // Its own entry in the list of libraries may say more.
    Fact prefix = content[Key::symbols_prefix];
    if (const auto found = described_.find(content.index()); found != described_.end()) {
      const Fact other = found->second;
      if (other[Key::symbols_prefix].said()) prefix = other[Key::symbols_prefix];
      if (other[Key::cache].is_text() && other[Key::functions].is_list()) return;
    }
    judge({cache, entry[Key::functions], entry_subject(cache, entry)}, prefix, tables_.of(content),
          sink_);
  }

  const Facts& facts_;
  Sink& sink_;
  LibraryFacts libraries_;
  NamedLibraries named_;
  ExportTables tables_;
  // Of the manifest at hand: caches by name, libraries by their content.
  std::unordered_map<Name, Fact> caches_;
  std::unordered_map<std::uint32_t, Fact> described_;
};

void check(const Facts& facts, Sink& sink) { SupersetCheck(facts, sink).run(); }

}  // namespace

extern constinit const Rule cache_superset_hit{
    .id = "cache-superset-hit",
    .title = "cached library that lacks a function it was asked for",
    .rationale =
        "Where the key of a cache leaves out which functions a build shall have, a request for "
        "more functions finds the smaller library that was built before. It is loaded as if it "
        "were the right one, and the look-up of the function that it never had fails, on every "
        "run, until somebody deletes the entry.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "libraries": [{"path": "k_0b31/k.so",)"
        R"( "symbols_prefix": "be_", "exports": [{"name": "be_f"}]}], "caches": [{"name": "k",)"
        R"( "entries": [{"directory": "k_0b31", "library": "k.so", "functions": ["f", "g"]}]}]})",
    .fix = "put the list of functions into the key of the cache, and delete the entry",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "cache entry with a list of functions, whose library's exports were read",
    .needs = {Key::libraries, Key::functions},
    .check = check,
};

}  // namespace opseal
