#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// A table may leave out one kind in ten of its enumeration, or one, and still count as meant to be
// whole. One that serves three of twenty-three kinds is small by design.
bool is_nearly_whole(std::size_t missing, std::size_t kinds) {
  return missing <= std::max<std::size_t>(1, kinds / 10);
}

// With fewer peers, that all of them list a kind may be an accident.
constexpr std::size_t certain_peers = 5;

// A table that takes values apart (`dequantize`) has no entry for what is stored as it is.
bool lists_only_storage_kinds(const Fact& entries) {
  for (const Fact entry : entries.items()) {
    if (!is_storage_kind(entry[Key::kind].text())) return false;
  }
  return true;
}

// Tables that consume one enumeration of one manifest.
struct Group {
  struct Listed {
    std::uint32_t tables = 0;
    Fact first;
  };

  std::vector<Fact> records;
  // By canonical kind.
  std::unordered_map<std::string, Listed> listed;
};

// The enumeration as one text, the same in any order and spelling.
std::string enumeration_key(const Fact& kinds) {
  std::vector<std::string> words;
  for (const Fact kind : kinds.items()) words.push_back(canonical_kind(kind.text()));
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return join(words, "\n");
}

// With a predicate the two are compared by `claim-without-launch` and `launch-without-claim`, and
// what it refuses is left out by design; a default arm serves every kind.
bool is_consumer(const Fact& dispatch) {
  const Fact table = dispatch[Key::table];
  return all_read(dispatch[Key::kinds]) && dispatch[Key::kinds].size() > 0 &&
         all_kinds_read(table[Key::entries]) && table[Key::entries].size() > 0 &&
         table[Key::default_].is_null() && !dispatch[Key::predicate].said();
}

void judge(const Group& group, Sink& sink) {
  const std::size_t peers = group.records.size() - 1;
  if (peers == 0) return;
  for (const Fact record : group.records) {
    sink.inspected();
    const Fact table = record[Key::table];
    KindSet own;
    own.add_members(table[Key::entries]);
    own.seal();
    std::vector<Fact> missing;
    std::size_t kinds = 0;
    for (const Fact kind : record[Key::kinds].items()) {
      ++kinds;
      if (!own.has(kind.text())) missing.push_back(kind);
    }
    // Those that no table lists count too: who leaves them out is as whole as its peers.
    std::erase_if(missing, [&](const Fact& kind) {
      return !group.listed.contains(canonical_kind(kind.text()));
    });
    if (lists_only_storage_kinds(table[Key::entries])) {
      std::erase_if(missing, [](const Fact& kind) { return !is_storage_kind(kind.text()); });
    }
    if (missing.empty() || !is_nearly_whole(missing.size(), kinds)) continue;
    KindSet waived;
    waived.add_members(record[Key::exceptions]);
    waived.seal();
    std::vector<std::string> names;
    Fact first;
    for (const Fact kind : missing) {
      const std::string canonical = canonical_kind(kind.text());
      // More than half of the peers must have it: else it is the one that has it that is odd.
      if (std::size_t{group.listed.at(canonical).tables} * 2 <= peers) continue;
      if (waived.may_have(kind.text())) continue;
      if (names.empty()) first = kind;
      names.emplace_back(kind.text());
    }
    if (names.empty()) continue;
    const Group::Listed& listed = group.listed.at(canonical_kind(first.text()));
    Finding& finding =
        sink.add(dispatch_subject(record),
                 quote_list(names) + " missing from the table, listed in " +
                     std::to_string(listed.tables) + " of " + plural(peers, "peer table"),
                 evidence(table[Key::entries], "entries listed here" + part_site(table)));
    finding.related.push_back(evidence(first, "kind of the enumeration"));
    finding.related.push_back(evidence(listed.first, "listed by a peer here"));
    if (peers < certain_peers) finding.severity = Severity::warning;
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    // In the order of the first record, whatever the enumeration's words.
    std::vector<Group> groups;
    std::unordered_map<std::string, std::size_t> known;
    for (const Fact dispatch : facts.root(document)[Key::dispatch].items()) {
      if (!dispatch.is_object() || !is_consumer(dispatch)) continue;
      const auto [place, fresh] =
          known.try_emplace(enumeration_key(dispatch[Key::kinds]), groups.size());
      if (fresh) groups.emplace_back();
      Group& group = groups[place->second];
      group.records.push_back(dispatch);
      std::unordered_set<std::string> own;
      for (const Fact entry : dispatch[Key::table][Key::entries].items()) {
        std::string kind = canonical_kind(entry[Key::kind].text());
        if (!own.insert(kind).second) continue;
        Group::Listed& listed = group.listed[std::move(kind)];
        if (listed.tables++ == 0) listed.first = entry[Key::kind];
      }
    }
    for (const Group& group : groups) judge(group, sink);
  }
}

}  // namespace

extern constinit const Rule enum_consumer_missed{
    .id = "enum-consumer-missed",
    .title = "kind of an enumeration that one table lacks and its peers list",
    .rationale =
        "A new kind has to be added to every table that switches over the enumeration. One that "
        "was forgotten, often because it is only compiled with a certain option, builds without a "
        "warning and misses at run time: the kind works in one operation and fails in the next.",
    .example = R"({"opseal_manifest": 1, "system": "engine", "dispatch": [)"
               R"({"operator": "copy", "kinds": ["A", "B"], "table": {"entries": [{"kind": "A", )"
               R"("kernel": "copy_a"}, {"kind": "B", "kernel": "copy_b"}], "default": null}}, )"
               R"({"operator": "free", "kinds": ["A", "B"], "table": {"entries": [{"kind": "A", )"
               R"("kernel": "free_a"}], "default": null}}]})",
    .fix =
        "add the entry, or an arm that refuses the kind; a manifest may name it under `exceptions`",
    .severity = Severity::error,
    .inspects =
        "dispatch table without a predicate or default arm, beside others over the same kinds",
    .needs = {Key::dispatch, Key::table, Key::kinds, Key::entries},
    .check = check,
};

}  // namespace opseal
