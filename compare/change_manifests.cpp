// What two manifests say beside operators and targets: platforms, caches, libraries.

#include <map>
#include <set>
#include <string>

#include "compare/change_list.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Elements of a list by the text under a key; the first of equal ones.
std::map<std::string_view, Fact> by_text(const Fact& list, Key key) {
  std::map<std::string_view, Fact> found;
  for (const Fact item : list.items()) {
    if (item[key].is_text()) found.try_emplace(item[key].text(), item);
  }
  return found;
}

std::set<Name> words_of(const Fact& list) {
  std::set<Name> words;
  for (const Fact word : list.items()) words.insert(word.name());
  return words;
}

void compare_names(ChangeList& list, const Fact& before, const Fact& after, Key key,
                   std::string_view noun, std::string_view lost, std::string_view gained) {
  if (!list.both(before, after, key)) return;
  const Fact then = before[key];
  const Fact now = after[key];
  const std::set<Name> then_words = words_of(then);
  const std::set<Name> now_words = words_of(now);
  const bool then_known = all_read(then);
  const bool now_known = all_read(now);
  for (const Fact word : then.items()) {
    if (!word.is_text() || !now_known || now_words.contains(word.name())) continue;
    list.add(Impact::breaking, to_text(key), std::string(word.text()),
             "no " + std::string(noun) + " any more", lost, word, now);
  }
  for (const Fact word : now.items()) {
    if (!word.is_text() || !then_known || then_words.contains(word.name())) continue;
    list.add(Impact::additive, to_text(key), std::string(word.text()), "new " + std::string(noun),
             gained, then, word);
  }
}

void compare_maps(ChangeList& list, const Fact& before, const Fact& after) {
  if (list.both(before, after, Key::global_backends) &&
      !same_meaning(before[Key::global_backends], after[Key::global_backends])) {
    list.add(Impact::numerics, "global-backends", "global_backends",
             "other backends are set for every operator",
             "who names no backend gets another kernel", before[Key::global_backends],
             after[Key::global_backends]);
  }
  if (!list.both(before, after, Key::opsets)) return;
  std::map<std::string_view, Fact> opsets;
  for (const EntryRange::Entry entry : before[Key::opsets].entries())
    opsets[entry.name.text()] = entry.value;
  for (const EntryRange::Entry entry : after[Key::opsets].entries()) {
    const Fact then = opsets[entry.name.text()];
    if (!then.is_count() || then.count() == entry.value.count()) continue;
    const bool lower = entry.value.count() < then.count();
    list.add(
        lower ? Impact::breaking : Impact::additive, "opset", std::string(entry.name.text()),
        "newest version is " + value_text(entry.value) + ", before " + value_text(then),
        lower ? "models of the versions behind that are not served" : "newer models are understood",
        then, entry.value);
  }
}

// Everything about a cache but its content.
constexpr Key cache_keys[] = {Key::schema,  Key::separated,   Key::hash,           Key::inputs,
                              Key::headers, Key::environment, Key::temporary_name, Key::suffix,
                              Key::match,   Key::directory,   Key::parameters};

void compare_cache_fact(ChangeList& list, const Fact& cache, const std::string& key,
                        const Fact& then, const Fact& now) {
  if (!then.said() || !now.said() || same_meaning(then, now)) return;
  if (then.is_object() && now.is_object()) {
    for (const Fact member : then.items()) {
      compare_cache_fact(list, cache, key + '.' + std::string(to_text(member.key())), member,
                         now[member.key()]);
    }
    return;
  }
  const std::string difference =
      then.is_list() && now.is_list() ? list_difference(then, now) : std::string();
  list.add(Impact::speed, "cache", std::string(cache[Key::name].text()),
           "cache " + quote(key) +
               (difference.empty() ? " is " + value_text(now) + ", before " + value_text(then)
                                   : ' ' + difference),
           "what was built before may not be found: first calls build again", then, now);
}

void compare_cache(ChangeList& list, const Fact& then, const Fact& now) {
  for (const Key key : cache_keys) {
    if (!list.both(then, now, key)) continue;
    compare_cache_fact(list, now, std::string(to_text(key)), then[key], now[key]);
  }
}

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
      list.add(Impact::speed, "cache", std::string(name), "no such cache any more",
               "kernels are built again", cache, after[Key::caches]);
    }
  }
  for (const auto& [name, cache] : now) {
    if (then.contains(name) || !then_known) continue;
    list.add(Impact::speed, "cache", std::string(name), "new cache", "kernels are built less often",
             before[Key::caches], cache);
  }
}

void compare_libraries(ChangeList& list, const Fact& before, const Fact& after) {
  if (!list.both(before, after, Key::libraries)) return;
  const auto then = by_text(before[Key::libraries], Key::path);
  const auto now = by_text(after[Key::libraries], Key::path);
  const bool then_known = all_read(before[Key::libraries]);
  const bool now_known = all_read(after[Key::libraries]);
  for (const auto& [path, library] : then) {
    const auto found = now.find(path);
    if (found == now.end()) {
      if (!now_known) continue;
      list.add(Impact::breaking, "library-removed", std::string(path), "no such library any more",
               "what links or loads it by this path fails", library, after[Key::libraries]);
      continue;
    }
    for (const Key key : {Key::architectures, Key::functions}) {
      if (!list.both(library, found->second, key)) continue;
      const std::string difference = list_difference(library[key], found->second[key]);
      if (difference.empty()) continue;
      const bool lost = difference.find("lost ") != difference.npos;
      list.add(lost ? Impact::breaking : Impact::additive, "library", std::string(path),
               quote(to_text(key)) + ' ' + difference,
               lost ? "what needs them finds none" : "more machines or callers are served",
               library[key], found->second[key]);
    }
  }
  for (const auto& [path, library] : now) {
    if (then.contains(path) || !then_known) continue;
    list.add(Impact::additive, "library-added", std::string(path), "new library",
             "there is more to load", before[Key::libraries], library);
  }
}

}  // namespace

void compare_manifests(ChangeList& list, const Fact& before, const Fact& after) {
  compare_names(list, before, after, Key::platforms, "platform",
                "programs that ask for the platform fail", "programs can ask for the platform");
  compare_names(list, before, after, Key::required_platforms, "promised platform",
                "not every operator serves the platform", "every operator serves the platform");
  compare_names(list, before, after, Key::backend_fallbacks, "platform with a general fallback",
                "operators without a kernel of their own fail there",
                "operators without a kernel of their own run there");
  compare_maps(list, before, after);
  compare_caches(list, before, after);
  compare_libraries(list, before, after);
}

}  // namespace opseal
