#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"
#include "rules/spelled_kinds.h"

namespace opseal {
namespace {

// A table that lists fewer kinds is small by design.
constexpr std::size_t fewest_entries = 5;
// A function that knows fewer texts has no lines to copy.
constexpr std::size_t fewest_copied = 3;
// Of a hundred texts of one table: those that another must have for the two to speak of the same.
constexpr std::size_t least_shared = 70;

// One kind in ten, or one, may be forgotten; more are left out on purpose.
bool is_nearly_whole(std::size_t missing, std::size_t kinds) {
  return missing <= std::max<std::size_t>(1, kinds / 10);
}

// It gives a value for a text.
bool parses(const Fact& table) { return table[Key::match].is("text"); }

bool is_positional(const Fact& table) { return table[Key::match].is("position"); }

// Kinds by canonical spelling, for names of texts too.
using KindsByText = std::map<std::string_view, std::vector<Fact>>;

KindsByText kinds_by_text(const Fact& table) {
  KindsByText kinds;
  for (const Fact entry : table[Key::entries].items()) {
    if (entry[Key::kernel].is_text()) kinds[entry[Key::kernel].text()].push_back(entry[Key::kind]);
  }
  return kinds;
}

void report_missing(const Fact& dispatch, const Fact& table, const std::vector<Fact>& missing,
                    const Fact& peer, Sink& sink) {
  std::vector<std::string> names;
  for (const Fact kind : missing) names.emplace_back(kind.text());
  const std::size_t entries = table[Key::entries].size();
  const std::string text = is_positional(table)
                               ? "`" + std::string(table[Key::name].text()) + "` has " +
                                     plural(entries, "text", "texts") + " by position for " +
                                     plural(entries + missing.size(), "value") +
                                     ": the last are nothing, and from a "
                                     "gap on each is another's"
                               : quote(table[Key::name].text()) + " lacks " + quote_list(names) +
                                     " and lists the other " + plural(entries, "value");
  Finding& finding =
      sink.add(dispatch_subject(dispatch), text, evidence(table[Key::name], "listed here"));
  if (peer.said()) finding.related.push_back(evidence(peer, "listed by another table here"));
}

// Of how many texts both say something, where those are most of what one of them has; else 0.
std::size_t texts_in_common(const KindsByText& ours, const KindsByText& theirs,
                            std::size_t fewest = fewest_entries) {
  std::size_t shared = 0;
  for (const auto& [text, kinds] : ours) shared += theirs.contains(text) ? 1 : 0;
  const std::size_t least = std::min(ours.size(), theirs.size()) * least_shared;
  return shared < fewest || shared * 100 < least ? 0 : shared;
}

Fact entry_for(const Fact& table, std::string_view kind) {
  for (const Fact entry : table[Key::entries].items()) {
    if (entry[Key::kind].text() == kind) return entry[Key::kind];
  }
  return {};
}

void check_table(const Fact& dispatch, const Fact& table, const KindSet& excused, Sink& sink) {
  const Fact kinds = dispatch[Key::kinds];
  const Fact entries = table[Key::entries];
  const bool is_small = entries.size() < fewest_entries && !is_positional(table);
  if (!all_kinds_read(entries) || is_small || table[Key::default_].is_text()) return;
  sink.inspected();
  KindSet own;
  own.add_members(entries);
  own.seal();
  std::vector<Fact> missing;
  for (const Fact kind : kinds.items()) {
    if (!own.has(kind.text()) && !excused.may_have(kind.text())) missing.push_back(kind);
  }
  // Not one that was forgotten.
  constexpr std::size_t most_missing = 32;
  if (missing.size() > most_missing) return;
  // Where a table over the same kinds is known that says the same of the others, it decides; one
  // that is looked into may know only some of them.
  const bool is_partial = table[Key::match].is("some") || parses(table);
  const KindsByText texts = kinds_by_text(table);
  std::vector<Fact> peers;
  for (const Fact other : dispatch[Key::agree].items()) {
    if (other == table || is_positional(table)) continue;
    if (is_partial ? texts_in_common(texts, kinds_by_text(other)) > 0
                   : other[Key::entries].size() >= fewest_entries) {
      peers.push_back(other);
    }
  }
  if (is_partial && peers.empty()) return;
  Fact listed;
  std::erase_if(missing, [&](const Fact& kind) {
    bool is_listed = peers.empty();
    for (const Fact peer : peers) {
      const Fact entry = entry_for(peer, kind.text());
      if (!entry.said()) continue;
      is_listed = true;
      if (!listed.said()) listed = entry;
    }
    return !is_listed;
  });
  if (missing.empty()) return;
  if (!is_positional(table) && !is_nearly_whole(missing.size(), kinds.size())) return;
  report_missing(dispatch, table, missing, listed, sink);
}

// A text that stands for one kind here and for another there. `told` gets the kinds.
void check_texts(const Fact& dispatch, const Fact& left, const Fact& right,
                 const SpelledKinds& spelled, std::vector<Fact>& told, Sink& sink) {
  constexpr std::size_t fewest_spelled = 3;
  const KindsByText ours = kinds_by_text(left);
  const KindsByText theirs = kinds_by_text(right);
  const std::size_t shared = texts_in_common(ours, theirs, fewest_spelled);
  if (shared == 0) return;
  sink.inspected();
  std::size_t conflicts = 0;
  bool all_spelled = true;
  Fact first;
  Fact second;
  for (const auto& [text, kinds] : ours) {
    const auto other = theirs.find(text);
    if (other == theirs.end()) continue;
    const bool agrees = std::any_of(kinds.begin(), kinds.end(), [&](const Fact& kind) {
      return std::any_of(other->second.begin(), other->second.end(),
                         [&](const Fact& one) { return one.text() == kind.text(); });
    });
    if (agrees) continue;
    ++conflicts;
    const std::string_view meant = spelled.of(text);
    all_spelled = all_spelled && !meant.empty() &&
                  (kinds.front().text() == meant || other->second.front().text() == meant);
    if (first.said()) continue;
    first = kinds.front();
    second = other->second.front();
  }
  // Tables that differ in much are about different things, or in another order by design; where
  // one of them gives the value that is spelled like the text, the other is wrong.
  const bool is_slip = shared >= fewest_entries && conflicts * 100 <= shared * (100 - least_shared);
  if (conflicts == 0 || !(is_slip || (all_spelled && conflicts * 2 <= shared))) return;
  told.push_back(first);
  told.push_back(second);
  std::string_view text;
  for (const auto& [one, kinds] : ours) {
    if (kinds.front() == first) text = one;
  }
  Finding& finding = sink.add(dispatch_subject(dispatch),
                              "`\"" + std::string(text) + "\"` is " + quote(first.text()) + " in " +
                                  quote(left[Key::name].text()) + " and " + quote(second.text()) +
                                  " in " + quote(right[Key::name].text()),
                              evidence(first, "one value here"));
  finding.related.push_back(evidence(second, "another value here"));
}

// One that `check_copies` has found.
struct Copy {
  std::string_view text;
  // The value that the text spells, and the one that it stands for.
  std::string_view meant;
  Fact given;
  // Where the latter stands for the text that spells it.
  Fact own;
  // `Quantized` of `"QuantizedPooling"` beside `"Pooling"`.
  std::string_view prefix;
};

// What `text` has before a text that the entry `kind` stands for.
std::string_view prefix_of(std::string_view text, const KindsByText& texts, const Fact& kind) {
  for (const auto& [other, kinds] : texts) {
    if (kinds.front() == kind && text.size() > other.size() && text.ends_with(other)) {
      return text.substr(0, text.size() - other.size());
    }
  }
  return {};
}

// A line that was copied: the text spells a value that no text stands for, and stands for another
// that has a text of its own.
void check_copies(const Fact& dispatch, const Fact& table, const SpelledKinds& spelled,
                  const KindSet& excused, const std::vector<Fact>& told, Sink& sink) {
  if (!parses(table) || table[Key::entries].size() < fewest_copied) return;
  const KindsByText texts = kinds_by_text(table);
  std::set<std::string_view> given;
  std::map<std::string_view, Fact> own;
  for (const auto& [text, kinds] : texts) {
    for (const Fact kind : kinds) given.insert(kind.text());
    if (kinds.size() == 1 && spelled.of(text) == kinds.front().text()) {
      own.emplace(kinds.front().text(), kinds.front());
    }
  }
  sink.inspected();
  std::vector<Copy> copies;
  // How many texts say a word before that of the value which they stand for.
  std::map<std::string_view, std::size_t> prefixed;
  for (const auto& [text, kinds] : texts) {
    const std::string_view meant = spelled.of(text);
    const auto taken = own.find(kinds.front().text());
    if (kinds.size() != 1 || meant.empty() || given.contains(meant) || taken == own.end()) continue;
    if (excused.may_have(meant) || excused.may_have(taken->first)) continue;
    if (std::find(told.begin(), told.end(), kinds.front()) != told.end()) continue;
    if (SpelledKinds::is_kind_of(meant, taken->first)) continue;
    const Copy copy{text, meant, kinds.front(), taken->second,
                    prefix_of(text, texts, taken->second)};
    if (!copy.prefix.empty()) ++prefixed[copy.prefix];
    copies.push_back(copy);
  }
  for (const Copy& copy : copies) {
    // `"QuantizedPooling"` and its like, all of which stand for what has no such word: not a slip.
    constexpr std::size_t fewest_prefixed = 3;
    if (!copy.prefix.empty() && prefixed[copy.prefix] >= fewest_prefixed) continue;
    Finding& finding = sink.add(dispatch_subject(dispatch),
                                quote(table[Key::name].text()) + " gives " +
                                    quote(copy.given.text()) + " for `\"" + std::string(copy.text) +
                                    "\"`, and " + quote(copy.meant) + " for no text",
                                evidence(copy.given, "another value here"));
    finding.related.push_back(evidence(copy.own, "the text of that value here"));
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    const Fact tables = dispatch[Key::agree];
    // More tables over one enumeration than any project has: an input made to cost time.
    constexpr std::uint32_t most_tables = 32;
    constexpr std::uint32_t most_entries = 2048;
    if (!tables.is_list() || tables.size() > most_tables) return;
    if (dispatch[Key::kinds].size() > most_entries) return;
    for (const Fact table : tables.items()) {
      if (table[Key::entries].size() > most_entries) return;
      // Columns of one table, which says what it likes of each value, and names of kernels.
      const Fact match = table[Key::match];
      if (match.is("row") || match.is("joined") || match.is("defined")) return;
    }
    KindSet excused;
    excused.add_members(dispatch[Key::exceptions]);
    KindSet stated;
    stated.add_members(dispatch[Key::exceptions]);
    stated.seal();
    const SpelledKinds spelled(dispatch[Key::kinds]);
    std::vector<Fact> told;
    std::vector<Fact> list;
    for (const Fact table : tables.items()) list.push_back(table);
    for (std::size_t left = 0; left < list.size(); ++left) {
      for (std::size_t right = left + 1; right < list.size(); ++right) {
        check_texts(dispatch, list[left], list[right], spelled, told, sink);
      }
    }
    for (const Fact kind : told) excused.add(kind.text());
    excused.seal();
    if (!all_read(dispatch[Key::kinds])) return;
    for (const Fact table : list) {
      // From a gap on each text is another's: what two tables differ in follows from it.
      check_table(dispatch, table, is_positional(table) ? stated : excused, sink);
      check_copies(dispatch, table, spelled, stated, told, sink);
    }
  });
}

}  // namespace

extern constinit const Rule table_drift{
    .id = "table-drift",
    .title = "two tables over one enumeration do not agree",
    .rationale =
        "A value is added to an enumeration, and with it a row in most of the tables that say "
        "something of each value: its name, its size, the way back from the name. In the table "
        "that "
        "was forgotten the new value is a null pointer, an unknown or its neighbour: files that "
        "were written can't be read back, and a log shows the wrong format.",
    .example =
        R"({"operator": "format", "kinds": ["A", "B", "C", "D", "E", "F"], "agree": [{"name": )"
        R"("format_name", "match": "name", "entries": [{"kind": "A", "kernel": "a"}, )"
        R"({"kind": "B", "kernel": "b"}, {"kind": "C", "kernel": "c"}, {"kind": "D", "kernel": )"
        R"("d"}, {"kind": "E", "kernel": "e"}]}]})",
    .fix =
        "add the row; better, make both tables from one list; a manifest may name the value under "
        "`exceptions`",
    .severity = Severity::warning,
    .inspects = "table over an enumeration, and two such tables with texts in common",
    .needs = {Key::dispatch, Key::agree, Key::entries},
    .check = check,
};

}  // namespace opseal
