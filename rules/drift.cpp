#include "rules/drift.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>

#include "opseal/ascii.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

struct Thing {
  std::uint64_t same = 0;
  std::string_view platform;
  Name name = 0;
  // Any number of names may share one content.
  bool by_content = false;
  Fact reason;
  bool is_target = true;
  Registered registered;

  auto key() const { return std::tie(is_target, by_content, same, platform); }
};

bool set_target_identity(const Fact& target, bool by_content, Thing& thing) {
  if (by_content && target[Key::content].is_text()) {
    thing.reason = target[Key::content];
    thing.by_content = true;
    thing.same = hash_of(thing.reason);
    return true;
  }
  const Fact function = target[Key::function];
  const Fact symbol = target[Key::symbol];
  const Fact place = target[Key::location];
  if (function.is_object() || symbol.is_text()) {
    thing.reason = function.is_object() ? function : symbol;
  } else if (place[Key::line].is_count()) {
    thing.reason = place;
    thing.same = hash_of(place);
  } else {
    return false;
  }
  for (const Key part : {Key::function, Key::symbol, Key::library, Key::spec, Key::api_version}) {
    thing.same = thing.same * 31 + hash_of(target[part]);
  }
  return true;
}

// The things of one dump, sorted by what they are.
std::vector<Thing> things_of(const Fact& manifest, bool by_content) {
  std::vector<Thing> things;
  PlatformNames names(manifest);
  const auto add = [&things, &manifest](Thing& thing, const Fact& item) {
    thing.name = item[Key::name].name();
    thing.registered = {manifest, item};
    things.push_back(thing);
  };
  for (const Fact target : manifest[Key::targets].items()) {
    Thing thing;
    if (!target[Key::name].is_text() || !set_target_identity(target, by_content, thing)) continue;
    thing.platform = names.of(target[Key::platform]).name;
    add(thing, target);
  }
  for (const Fact op : manifest[Key::operators].items()) {
    const Fact place = op[Key::location];
    if (!op[Key::name].is_text() || !place[Key::line].is_count()) continue;
    Thing thing;
    thing.reason = place;
    thing.same = hash_of(place);
    thing.is_target = false;
    add(thing, op);
  }
  std::stable_sort(things.begin(), things.end(),
                   [](const Thing& a, const Thing& b) { return a.key() < b.key(); });
  return things;
}

using Run = std::pair<std::vector<Thing>::const_iterator, std::vector<Thing>::const_iterator>;

// Names of `from` that `other` lacks, each once, in order.
std::vector<Thing> names_alone(const Run& from, const Run& other) {
  const auto by_name = [](const Thing& a, const Thing& b) { return a.name < b.name; };
  const auto same_name = [](const Thing& a, const Thing& b) { return a.name == b.name; };
  const auto named = [&](const Run& run) {
    std::vector<Thing> things(run.first, run.second);
    std::stable_sort(things.begin(), things.end(), by_name);
    things.erase(std::unique(things.begin(), things.end(), same_name), things.end());
    return things;
  };
  const std::vector<Thing> left = named(from);
  const std::vector<Thing> right = named(other);
  std::vector<Thing> alone;
  std::set_difference(left.begin(), left.end(), right.begin(), right.end(),
                      std::back_inserter(alone), by_name);
  std::stable_sort(alone.begin(), alone.end(), [](const Thing& a, const Thing& b) {
    return a.registered.item.index() < b.registered.item.index();
  });
  return alone;
}

// A name without what a counter, an address or a digest puts into it.
std::string stem_of(std::string_view name) {
  constexpr std::size_t shortest_digest = 6;
  std::string stem;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && is_hex(name[end])) ++end;
    const bool alone = at == 0 || name[at - 1] == '_' || name[at - 1] == '.';
    if (alone && end - at >= shortest_digest) {
      stem += '#';
      at = end;
    } else if (name[at] >= '0' && name[at] <= '9') {
      if (!stem.ends_with('#')) stem += '#';
      ++at;
    } else {
      stem += name[at++];
    }
  }
  return stem;
}

// One line or function may serve many, of which either dump happens to have one.
bool may_be_one(const Thing& before, const Thing& after) {
  const auto stem = [](const Thing& thing) {
    return stem_of(thing.registered.item[Key::name].text());
  };
  return before.by_content || stem(before) == stem(after);
}

void compare_runs(const Run& left, const Run& right, Drifts& drifts) {
  const bool once = left.second - left.first == 1 && right.second - right.first == 1;
  if (!left.first->by_content && !once) return;
  ++drifts.inspected;
  const std::vector<Thing> before = names_alone(left, right);
  const std::vector<Thing> after = names_alone(right, left);
  // A name that only went or only came is no drift.
  for (std::size_t at = 0; at < std::min(before.size(), after.size()); ++at) {
    if (!may_be_one(before[at], after[at])) continue;
    drifts.found.push_back(
        {before[at].registered, after[at].registered, before[at].reason, before[at].is_target});
  }
}

void compare_things(const std::vector<Thing>& before, const std::vector<Thing>& after,
                    Drifts& drifts) {
  const auto run_end = [](auto first, auto end) {
    return std::find_if(first, end,
                        [first](const Thing& one) { return one.key() != first->key(); });
  };
  auto left = before.begin();
  auto right = after.begin();
  while (left != before.end() && right != after.end()) {
    if (left->key() < right->key()) {
      ++left;
    } else if (right->key() < left->key()) {
      ++right;
    } else {
      const Run left_run{left, run_end(left, before.end())};
      const Run right_run{right, run_end(right, after.end())};
      compare_runs(left_run, right_run, drifts);
      left = left_run.second;
      right = right_run.second;
    }
  }
}

}  // namespace

Drifts find_drifts(const Facts& facts, Comparable comparable, bool by_content) {
  Drifts drifts;
  for_each_manifest_pair(facts, [&](const Fact& before, const Fact& after) {
    if (!comparable(before, after)) return;
    compare_things(things_of(before, by_content), things_of(after, by_content), drifts);
  });
  return drifts;
}

const char* noun_of(const Drift& drift) { return drift.is_target ? "target" : "operator"; }

}  // namespace opseal
