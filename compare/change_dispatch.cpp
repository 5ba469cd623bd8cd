// What a predicate accepts and a table serves, in two dumps.

#include <map>
#include <string>
#include <utility>

#include "compare/change_members.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using enum Impact;

constexpr Judgement fewer{breaking, "calls with these kinds fail or go elsewhere"};
constexpr Judgement more{additive, "it can be called with more kinds"};

constexpr Judged rows[] = {
    {Key::predicate, Key::kinds, Worse::lost, fewer, more},
    {Key::predicate, Key::refused, Worse::gained, fewer, more},
    {.parent = Key::predicate,
     .key = Key::names,
     .worse = {numerics, "another kernel is asked for by name"}},
    {.parent = Key::predicate,
     .key = Key::takes_backend,
     .worse = {breaking, "code that asks it passes other arguments"}},
    {Key::table,
     Key::default_,
     Worse::lost,
     {breaking, "kinds that the table doesn't list fail"},
     {numerics, "another kernel serves what the table doesn't list"}},
};

std::map<std::pair<std::string_view, std::string_view>, Fact> by_operator(const Fact& list) {
  std::map<std::pair<std::string_view, std::string_view>, Fact> found;
  for (const Fact item : list.items()) {
    if (item[Key::operator_].is_text())
      found.try_emplace({item[Key::operator_].text(), item[Key::backend].text()}, item);
  }
  return found;
}

void compare_entries(ChangeList& list, const std::string& subject, const Fact& before,
                     const Fact& after) {
  if (!list.both(before, after, Key::entries)) return;
  const Fact then = before[Key::entries];
  const Fact now = after[Key::entries];
  std::map<std::string_view, std::pair<Fact, Fact>> kinds;
  for (const Fact entry : then.items()) kinds[entry[Key::kind].text()].first = entry;
  for (const Fact entry : now.items()) kinds[entry[Key::kind].text()].second = entry;
  for (const auto& [kind, entries] : kinds) {
    const auto& [old_entry, entry] = entries;
    const std::string what = "the kind " + quote(kind);
    if (!entry.said()) {
      if (all_read(now))
        list.add(breaking, "dispatch", subject, "the table lost " + what, fewer.meaning, old_entry,
                 now);
    } else if (!old_entry.said()) {
      if (all_read(then))
        list.add(additive, "dispatch", subject, "the table gained " + what, more.meaning, then,
                 entry);
    } else if (!same_meaning(old_entry[Key::kernel], entry[Key::kernel])) {
      list.add(numerics, "dispatch", subject,
               "the kernel of " + what + ' ' +
                   difference_text(old_entry[Key::kernel], entry[Key::kernel]),
               "another kernel runs: results and speed may change", old_entry, entry);
    }
  }
}

}  // namespace

void compare_dispatches(ChangeList& list, const Fact& before, const Fact& after) {
  if (!list.both(before, after, Key::dispatch)) return;
  const auto then = by_operator(before[Key::dispatch]);
  const auto now = by_operator(after[Key::dispatch]);
  const auto subject_of_row = [](const std::pair<std::string_view, std::string_view>& key) {
    return std::string(key.first) + (key.second.empty() ? "" : " ") + std::string(key.second);
  };
  for (const auto& [key, row] : then) {
    const std::string subject = subject_of_row(key);
    const auto found = now.find(key);
    if (found != now.end()) {
      compare_members({list, subject, "dispatch", {}, {}}, rows, row, found->second);
      compare_entries(list, subject, row[Key::table], found->second[Key::table]);
    } else if (all_read(after[Key::dispatch])) {
      list.add(breaking, "dispatch", subject, "no dispatch of it any more",
               "calls that it sent to a kernel fail", row, after[Key::dispatch]);
    }
  }
  for (const auto& [key, row] : now) {
    if (then.contains(key) || !all_read(before[Key::dispatch])) continue;
    list.add(additive, "dispatch", subject_of_row(key), "new dispatch of it",
             "there is more to call", before[Key::dispatch], row);
  }
}

}  // namespace opseal
