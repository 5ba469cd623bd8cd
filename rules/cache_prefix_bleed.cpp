#include <algorithm>
#include <map>
#include <utility>

#include "opseal/ascii.h"
#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

struct NamedEntry {
  std::string_view name;
  Fact fact;
};

// The name of an entry, or what its directory is called before the digits of the key.
std::string_view entry_name(const Fact& entry) {
  if (entry[Key::name].is_text()) return entry[Key::name].text();
  std::string_view directory = entry[Key::directory].text();
  if (const std::size_t slash = directory.rfind('/'); slash != directory.npos) {
    directory.remove_prefix(slash + 1);
  }
  std::size_t digits = 0;
  while (digits < directory.size() && is_hex(directory[directory.size() - 1 - digits])) ++digits;
  if (digits < 8 || digits + 1 >= directory.size()) return directory;
  return directory.substr(0, directory.size() - digits - 1);
}

// Entries of which another one's name is the beginning, each with that other one.
std::vector<std::pair<NamedEntry, NamedEntry>> find_bleeds(const Fact& entries) {
  std::vector<NamedEntry> named;
  for (const Fact entry : entries.items()) {
    if (const std::string_view name = entry_name(entry); !name.empty()) {
      named.push_back({name, entry});
    }
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const NamedEntry& a, const NamedEntry& b) { return a.name < b.name; });
  // Sorted, a name stands right before those that begin with it, but for its own repetitions.
  std::vector<std::pair<NamedEntry, NamedEntry>> bleeds;
  for (std::size_t at = 0; at + 1 < named.size(); ++at) {
    const NamedEntry& next = named[at + 1];
    if (next.name != named[at].name && next.name.starts_with(named[at].name)) {
      bleeds.emplace_back(named[at], next);
    }
  }
  return bleeds;
}

void judge(const Fact& cache, const Fact& entries, Sink& sink) {
  const auto bleeds = find_bleeds(entries);
  if (bleeds.empty()) return;
  const auto& [shorter, longer] = bleeds.front();
  std::string message = "the prefix " + quote(shorter.name) + " also finds " + quote(longer.name);
  if (bleeds.size() > 1) {
    message += ", and " + plural(bleeds.size() - 1, "more pair") + " like it";
  }
  Finding& finding =
      sink.add(cache_subject(cache), std::move(message),
               evidence(cache[Key::match], "way of matching stated here" + key_site(cache)));
  finding.related.push_back(evidence(shorter.fact, "entry that is meant"));
  finding.related.push_back(evidence(longer.fact, "entry that is found too"));
}

// The directories that were read, under the name of their cache. How such a cache matches only its
// code can tell, so another input may state it under the same name.
std::multimap<std::string_view, Fact> read_directories(const Facts& facts) {
  std::multimap<std::string_view, Fact> directories;
  for_each_cache(facts, [&directories](const Fact&, const Fact& cache) {
    const Fact entries = cache[Key::entries];
    if (!entries.is_list() || cache[Key::match].said() || !cache[Key::name].is_text()) return;
    directories.emplace(cache[Key::name].text(), entries);
  });
  return directories;
}

void check(const Facts& facts, Sink& sink) {
  std::multimap<std::string_view, Fact> directories = read_directories(facts);
  for_each_cache(facts, [&](const Fact&, const Fact& cache) {
    const Fact match = cache[Key::match];
    if (!match.is_text()) return;
    sink.inspected();
    if (!match.is("prefix")) return;
    const auto [first, end] = directories.equal_range(cache[Key::name].text());
    if (cache[Key::entries].is_list()) {
      judge(cache, cache[Key::entries], sink);
    } else if (first == end) {
      sink.add(cache_subject(cache), "entries are found by a prefix of their name",
               evidence(match, "way of matching stated here" + key_site(cache)));
    }
    for (auto at = first; at != end; ++at) judge(cache, at->second, sink);
    // Once told is enough, however many state the same cache.
    directories.erase(first, end);
  });
}

}  // namespace

extern constinit const Rule cache_prefix_bleed{
    .id = "cache-prefix-bleed",
    .title = "cache that finds entries of one name by the beginning of another",
    .rationale =
        "Looked up by prefix, `add` also finds `add_fast`. Clearing the one deletes the other, and "
        "a look-up may load the library of the wrong one. It shows only once somebody chooses such "
        "a pair of names.",
    .example = R"({"name": "kernels", "match": "prefix", "entries": [{"name": "add"},)"
               R"( {"name": "add_fast"}]})",
    .fix = "match the whole name, and the key by its exact form",
    .severity = Severity::warning,
    .inspects = "cache of which it is said how entries are found",
    .needs = {Key::caches, Key::match},
    .check = check,
};

}  // namespace opseal
