#include "compare/change_members.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

double size_of(const Fact& fact) {
  if (fact.is_null()) return std::numeric_limits<double>::infinity();
  return fact.is_truth() ? (fact.truth() ? 1 : 0) : fact.number();
}

// Something of `from` is not in `in`.
bool lacks(const Fact& from, const Fact& in) {
  if (from.is_map()) {
    for (const EntryRange::Entry entry : from.entries()) {
      if (!in.at(entry.name.text()).said()) return true;
    }
    return false;
  }
  if (!from.is_list()) return from.present() && in.is_null();
  const std::vector<std::string> wanted = texts_of(from);
  const std::vector<std::string> there = texts_of(in);
  const std::set<std::string_view> known(there.begin(), there.end());
  return std::any_of(wanted.begin(), wanted.end(),
                     [&known](const std::string& text) { return !known.contains(text); });
}

std::size_t place_of(const Fact& word, std::span<const std::string_view> words) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word.text()) -
                                  words.begin());
}

bool is_worse(const Judged& row, const Fact& then, const Fact& now) {
  switch (row.worse_if) {
    case Worse::any:
      return true;
    case Worse::higher:
      return size_of(now) > size_of(then);
    case Worse::lower:
      return size_of(now) < size_of(then);
    case Worse::lost:
      return lacks(then, now);
    case Worse::gained:
      return lacks(now, then);
    case Worse::later:
      return place_of(now, row.words) > place_of(then, row.words);
    case Worse::gone:
      return now.is_null();
  }
  return true;
}

void compare_row(const JudgedItem& item, const Judged& row, const Fact& before, const Fact& after) {
  if (!item.list.both(before, after, row.key)) return;
  const Fact then = before[row.key];
  const Fact now = after[row.key];
  if (row.worse_if == Worse::gone ? then.is_null() == now.is_null() : same_meaning(then, now))
    return;
  const bool set = row.worse_if == Worse::lost || row.worse_if == Worse::gained;
  if (set && then.is_list() && now.is_list() && !lacks(then, now) && !lacks(now, then)) return;
  const Judgement& judgement = is_worse(row, then, now) ? row.worse : row.better;
  const std::string_view key = to_text(row.key);
  const std::string_view top = row.parent == Key::none ? key : to_text(row.parent);
  const std::string path =
      row.parent == Key::none ? std::string(key) : std::string(top) + '.' + std::string(key);
  item.list.add(judgement.impact, item.kind.empty() ? top : item.kind, item.subject,
                item.front + quote(path) + item.behind + ' ' + difference_text(then, now),
                judgement.meaning, then, now);
}

}  // namespace

void compare_members(const JudgedItem& item, std::span<const Judged> rows, const Fact& before,
                     const Fact& after) {
  Key counted = Key::none;
  for (const Judged& row : rows) {
    if (row.parent == Key::none) {
      if (row.worse_if == Worse::gone) counted = row.key;
      compare_row(item, row, before, after);
      continue;
    }
    // An object that only one dump says is counted once, not for each of its members.
    if (row.parent != counted) item.list.both(before, after, row.parent);
    counted = row.parent;
    const Fact then = before[row.parent];
    const Fact now = after[row.parent];
    if (then.is_object() && now.is_object()) compare_row(item, row, then, now);
  }
}

}  // namespace opseal
