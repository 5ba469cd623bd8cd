#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/library_exports.h"

namespace opseal {
namespace {

// Every name under which somebody may ask for a function of a library.
class AskedNames {
 public:
  explicit AskedNames(const Facts& facts) {
    for (const Document& document : facts.documents) {
      if (document.settings || document.of_library != 0) continue;
      const Fact manifest = facts.root(document);
      for (const Fact target : manifest[Key::targets].items()) {
        add(target[Key::symbol]);
        add(target[Key::function][Key::name]);
        add_last_part(target[Key::name]);
      }
      for (const Fact op : manifest[Key::operators].items()) {
        add_last_part(op[Key::name]);
        for (const Fact kernel : op[Key::kernels].items()) {
          add(kernel[Key::symbol]);
          add(kernel[Key::function][Key::name]);
          add_last_part(kernel[Key::target]);
        }
      }
      for (const Fact cache : manifest[Key::caches].items()) {
        for (const Fact entry : cache[Key::entries].items()) add_all(entry[Key::functions]);
      }
      for (const Fact library : manifest[Key::libraries].items()) add_all(library[Key::functions]);
      for (const Fact dispatch : manifest[Key::dispatch].items()) add_dispatch(dispatch);
    }
  }

  bool has(std::string_view name) const { return names_.contains(name); }

 private:
  void add(const Fact& name) {
    if (name.is_text()) names_.insert(name.text());
  }
  void add_all(const Fact& list) {
    for (const Fact name : list.items()) add(name);
  }
  // `lib.f` is asked for as `f`.
  void add_last_part(const Fact& name) {
    add(name);
    const std::size_t dot = name.text().find_last_of(".:");
    if (dot != std::string_view::npos) names_.insert(name.text().substr(dot + 1));
  }
  void add_dispatch(const Fact& dispatch) {
    for (const Fact entry : dispatch[Key::table][Key::entries].items()) add(entry[Key::kernel]);
    add(dispatch[Key::table][Key::default_]);
    for (const EntryRange::Entry entry : dispatch[Key::predicate][Key::names].entries()) {
      add(entry.value);
    }
    for (const Fact lookup : dispatch[Key::lookups].items()) add(lookup[Key::operator_]);
  }

  std::unordered_set<std::string_view> names_;
};

// What a symbol is called by those who know its prefix.
bool is_asked_for(const AskedNames& asked, std::string_view symbol, std::string_view prefix) {
  if (asked.has(symbol)) return true;
  return !prefix.empty() && symbol.starts_with(prefix) && asked.has(symbol.substr(prefix.size()));
}

// Exported symbols that are entry points: by the prefix of the library, and FFI handlers.
std::vector<Fact> entries_of(const Fact& content, std::string_view prefix) {
  std::vector<Fact> entries;
  std::unordered_set<Name> seen;
  for (const Fact symbol : content[Key::exports].items()) {
    const Fact name = symbol[Key::name];
    if (prefix.empty() || !name.text().starts_with(prefix) || symbol[Key::weak].truth()) continue;
    if (symbol[Key::kind].is_text() && !symbol[Key::kind].is("function")) continue;
    if (seen.insert(name.name()).second) entries.push_back(name);
  }
  for (const Fact handler : content[Key::handlers].items()) {
    const Fact symbol = handler[Key::symbol];
    // Those of the earlier stages come in a bundle with the last one.
    if (handler[Key::stage].is_text() && !handler[Key::stage].is("execute")) continue;
    if (symbol.is_text() && seen.insert(symbol.name()).second) entries.push_back(symbol);
  }
  return entries;
}

struct Candidate {
  Fact library;
  std::string_view prefix;
  std::vector<Fact> entries;
};

void judge(const Candidate& candidate, const AskedNames& asked, Sink& sink) {
  const std::vector<Fact>& entries = candidate.entries;
  std::vector<std::string> unasked;
  Fact first;
  for (const Fact& entry : entries) {
    if (is_asked_for(asked, entry.text(), candidate.prefix)) continue;
    if (unasked.empty()) first = entry;
    unasked.emplace_back(entry.text());
  }
  // Where nobody names any of them, those who do are not among the inputs.
  if (unasked.size() == entries.size()) return;
  sink.inspected(entries.size());
  if (unasked.empty()) return;
  Finding& finding = sink.add("library " + std::string(candidate.library[Key::path].text()),
                              "exports " + quote_list(unasked) + ", which nothing names, of " +
                                  plural(entries.size(), "entry point"),
                              evidence(first, "first of them"));
  const Fact functions = candidate.library[Key::functions];
  if (functions.is_list()) finding.related.push_back(evidence(functions, "named here"));
}

void check(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  std::vector<Candidate> candidates;
  libraries.for_each([&](const Document&, const Fact&, const Fact& library, const Fact& content) {
    if (!content[Key::exports].is_list()) return;
    const std::string_view prefix = library[Key::symbols_prefix].text();
    std::vector<Fact> entries = entries_of(content, prefix);
    if (!entries.empty()) candidates.push_back({library, prefix, std::move(entries)});
  });
  if (candidates.empty()) return;
  const AskedNames asked(facts);
  for (const Candidate& candidate : candidates) judge(candidate, asked, sink);
}

}  // namespace

extern constinit const Rule export_unreachable{
    .id = "export-unreachable",
    .title = "exported entry point that nothing names",
    .rationale =
        "A function that no registration names can't be called, but it was written, compiled for "
        "every architecture, shipped and registered at every start. Mostly it is left over from an "
        "older interface, and now and then it is the one that a registration should have named.",
    .example = R"({"path": "libops.so", "functions": ["f"], "symbols_prefix": "be_",)"
               R"( "exports": [{"name": "be_f"}, {"name": "be_g"}]})",
    .fix = "register the entry point, or take it out",
    .severity = Severity::note,
    .profile = Profile::audit,
    .tier = Tier::bytes,
    .inspects = "entry point of a library of which other entry points are named",
    .needs = {Key::libraries, Key::exports},
    .check = check,
};

}  // namespace opseal
