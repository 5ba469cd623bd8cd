// How two dumps say that a cache names its entries: who finds an entry that was built from
// something else gets stale code, who finds none builds again.

#include <map>
#include <string>

#include "compare/change_members.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using enum Impact;

constexpr std::string_view match_words[] = {"exact", "prefix"};
constexpr std::string_view method_words[] = {"content", "mtime", "none"};
// The further back, the more different things have one form.
constexpr std::string_view part_words[] = {"content", "value",    "mtime",    "name",
                                           "path",    "presence", "identity", "address"};

constexpr Judgement stale{numerics, "entries that were built from something else are found"};
constexpr Judgement rebuilt{speed, "what was built before is not found: first calls build again"};

constexpr Judged rows[] = {
    {.key = Key::inputs, .worse_if = Worse::lost, .worse = stale, .better = rebuilt},
    {.key = Key::parameters, .worse_if = Worse::lost, .worse = stale, .better = rebuilt},
    {.key = Key::schema,
     .worse_if = Worse::gone,
     .worse = {numerics, "entries of releases that build otherwise are found"},
     .better = rebuilt},
    {.key = Key::separated,
     .worse_if = Worse::lower,
     .worse = {numerics, "two things to build may have one key"},
     .better = rebuilt},
    {.key = Key::hash, .worse = rebuilt},
    {.parent = Key::headers,
     .key = Key::method,
     .worse_if = Worse::later,
     .worse = stale,
     .better = rebuilt,
     .words = method_words},
    {Key::headers, Key::directories, Worse::lost, stale, rebuilt},
    {Key::headers, Key::covered, Worse::lost, stale, rebuilt},
    {Key::headers, Key::included, Worse::lost, rebuilt, rebuilt},
    {.key = Key::freshness, .worse_if = Worse::lost, .worse = stale, .better = rebuilt},
    {.key = Key::binds,
     .worse_if = Worse::gained,
     .worse = {numerics, "entries hold on to state that may have changed when they are found"},
     .better = {additive, "entries hold on to less state"}},
    {.key = Key::temporary_name,
     .worse_if = Worse::lost,
     .worse = {numerics, "builds at one time may write over each other's files"},
     .better = {speed, "builds at one time keep further apart"}},
    {.key = Key::match,
     .worse_if = Worse::later,
     .worse = {numerics, "entries of other keys are found"},
     .better = rebuilt,
     .words = match_words},
    {.key = Key::suffix, .worse = rebuilt},
    {.key = Key::directory, .worse = rebuilt},
    {.key = Key::kind, .worse = {speed, "entries live for another time"}},
    {.key = Key::backs, .worse = {speed, "entries are looked up in another order"}},
};

constexpr Judged part_rows[] = {
    {.key = Key::input, .worse = stale},
    {.key = Key::form,
     .worse_if = Worse::later,
     .worse = stale,
     .better = rebuilt,
     .words = part_words},
    {.key = Key::values, .worse = rebuilt},
};

// A constant that came or is another one makes old entries unreachable, as it should; only one that
// went lets old entries be found.
void compare_schema(const JudgedItem& item, const Fact& before, const Fact& after) {
  const Fact then = before[Key::schema];
  const Fact now = after[Key::schema];
  if (!then.present() || !now.present() || same_meaning(then, now)) return;
  item.list.add(rebuilt.impact, item.kind, item.subject,
                item.front + "`schema` " + difference_text(then, now), rebuilt.meaning, then, now);
}

void compare_environment(const JudgedItem& item, const Fact& before, const Fact& after) {
  const bool in_key = list_has(after[Key::inputs], "environment");
  const Judged row[] = {
      {.key = Key::environment,
       .worse_if = Worse::lost,
       .worse = {numerics, "builds no longer follow the variable: they may give other code"},
       .better = in_key ? rebuilt : stale}};
  compare_members(item, row, before, after);
}

void compare_parts(const JudgedItem& item, const Fact& before, const Fact& after) {
  if (!item.list.both(before, after, Key::key_parts)) return;
  const Fact then = before[Key::key_parts];
  const Fact now = after[Key::key_parts];
  std::map<std::string_view, std::pair<Fact, Fact>> parts;
  for (const Fact part : then.items()) parts[part[Key::name].text()].first = part;
  for (const Fact part : now.items()) parts[part[Key::name].text()].second = part;
  for (const auto& [name, pair] : parts) {
    // Parts without a name can't be told apart.
    if (name.empty()) continue;
    const auto& [old_part, part] = pair;
    const std::string what = "key part " + quote(name);
    if (!part.said()) {
      if (all_read(now))
        item.list.add(stale.impact, item.kind, item.subject, item.front + "lost the " + what,
                      stale.meaning, old_part, now);
    } else if (!old_part.said()) {
      if (all_read(then))
        item.list.add(rebuilt.impact, item.kind, item.subject, item.front + "gained the " + what,
                      rebuilt.meaning, then, part);
    } else {
      compare_members({item.list, item.subject, item.kind, item.front, " of the " + what},
                      part_rows, old_part, part);
    }
  }
}

void compare_cache(ChangeList& list, const Fact& before, const Fact& after) {
  const std::string subject(after[Key::name].text());
  const JudgedItem item{list, subject, "cache", "cache ", {}};
  compare_members(item, rows, before, after);
  compare_schema(item, before, after);
  compare_environment(item, before, after);
  compare_parts(item, before, after);
}

}  // namespace

void compare_caches(ChangeList& list, const Fact& before, const Fact& after) {
  if (!list.both(before, after, Key::caches)) return;
  const auto then = by_text(before[Key::caches], Key::name);
  const auto now = by_text(after[Key::caches], Key::name);
  const bool then_known = all_read(before[Key::caches]);
  const bool now_known = all_read(after[Key::caches]);
  for (const auto& [name, cache] : then) {
    const auto found = now.find(name);
    if (found != now.end()) {
      compare_cache(list, cache, found->second);
    } else if (now_known) {
      list.add(speed, "cache", std::string(name), "no such cache any more",
               "kernels are built again", cache, after[Key::caches]);
    }
  }
  for (const auto& [name, cache] : now) {
    if (then.contains(name) || !then_known) continue;
    list.add(speed, "cache", std::string(name), "new cache", "kernels are built less often",
             before[Key::caches], cache);
  }
}

}  // namespace opseal
