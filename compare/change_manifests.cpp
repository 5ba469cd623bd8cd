// What two manifests say of the registry as a whole.

#include <map>
#include <string>

#include "compare/change_members.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Words of a list by what they stand for.
std::map<std::string, Fact> words_of(const Fact& manifest, Key key) {
  PlatformNames names(manifest);
  std::map<std::string, Fact> words;
  for (const Fact word : manifest[key].items()) {
    if (!word.is_text()) continue;
    const bool platform = key != Key::architectures;
    words.try_emplace(platform ? lower(names.of(word).name) : std::string(word.text()), word);
  }
  return words;
}

void compare_names(ChangeList& list, const Fact& before, const Fact& after, Key key,
                   std::string_view noun, std::string_view lost, std::string_view gained) {
  if (!list.both(before, after, key)) return;
  const auto then = words_of(before, key);
  const auto now = words_of(after, key);
  const bool then_known = all_read(before[key]);
  const bool now_known = all_read(after[key]);
  for (const auto& [name, word] : then) {
    if (!now_known || now.contains(name)) continue;
    list.add(Impact::breaking, to_text(key), std::string(word.text()),
             "no " + std::string(noun) + " any more", lost, word, after[key]);
  }
  for (const auto& [name, word] : now) {
    if (!then_known || then.contains(name)) continue;
    list.add(Impact::additive, to_text(key), std::string(word.text()), "new " + std::string(noun),
             gained, before[key], word);
  }
}

void compare_maps(ChangeList& list, const Fact& before, const Fact& after) {
  if (list.both(before, after, Key::global_backends) &&
      !same_meaning(before[Key::global_backends], after[Key::global_backends])) {
    list.add(Impact::numerics, "global-backends", "global_backends",
             "the backend set for every operator " +
                 difference_text(before[Key::global_backends], after[Key::global_backends]),
             "who names no backend gets another kernel", before[Key::global_backends],
             after[Key::global_backends]);
  }
  if (!list.both(before, after, Key::opsets)) return;
  const Fact opsets = before[Key::opsets];
  for (const EntryRange::Entry entry : after[Key::opsets].entries()) {
    const Fact then = opsets.at(entry.name.text());
    if (!then.said()) {
      list.add(Impact::additive, "opset", std::string(entry.name.text()), "new domain of operators",
               "models that use it are understood", opsets, entry.value);
      continue;
    }
    if (!then.is_count() || then.count() == entry.value.count()) continue;
    const bool lower = entry.value.count() < then.count();
    list.add(
        lower ? Impact::breaking : Impact::additive, "opset", std::string(entry.name.text()),
        "newest version is " + value_text(entry.value) + ", before " + value_text(then),
        lower ? "models of the versions behind that are not served" : "newer models are understood",
        then, entry.value);
  }
  for (const EntryRange::Entry entry : opsets.entries()) {
    if (after[Key::opsets].at(entry.name.text()).said()) continue;
    list.add(Impact::breaking, "opset", std::string(entry.name.text()),
             "no such domain of operators any more", "models that use it are refused", entry.value,
             after[Key::opsets]);
  }
}

// Each name of a map that came, went or stands for something else.
void compare_aliases(ChangeList& list, const Fact& before, const Fact& after) {
  if (!list.both(before, after, Key::platform_aliases)) return;
  const Fact then = before[Key::platform_aliases];
  const Fact now = after[Key::platform_aliases];
  for (const EntryRange::Entry entry : then.entries()) {
    const std::string name(entry.name.text());
    const Fact other = now.at(name);
    if (!other.said()) {
      list.add(Impact::breaking, "platform-aliases", name, "no alias of a platform any more",
               "programs that ask for the platform by it fail", entry.value, now);
    } else if (!same_meaning(entry.value, other)) {
      list.add(Impact::breaking, "platform-aliases", name,
               "alias " + difference_text(entry.value, other),
               "programs that ask for the platform by it get another", entry.value, other);
    }
  }
  for (const EntryRange::Entry entry : now.entries()) {
    if (then.at(entry.name.text()).said()) continue;
    list.add(Impact::additive, "platform-aliases", std::string(entry.name.text()),
             "new alias of the platform " + value_text(entry.value),
             "programs can ask for the platform by it", then, entry.value);
  }
}

// What becomes of a second registration of a name.
constexpr std::string_view duplicate_words[] = {"replace", "ignore", "warning", "error"};
constexpr Judged manifest_rows[] = {
    {.key = Key::on_duplicate,
     .worse_if = Worse::later,
     .worse = {Impact::breaking, "code that registers a name twice is told so or fails"},
     .better = {Impact::numerics,
                "a second registration of a name is told no more, and another of the two may run"},
     .words = duplicate_words},
};

}  // namespace

std::map<std::string_view, Fact> by_text(const Fact& list, Key key) {
  std::map<std::string_view, Fact> found;
  for (const Fact item : list.items()) {
    if (item[key].is_text()) found.try_emplace(item[key].text(), item);
  }
  return found;
}

void compare_manifests(ChangeList& list, const Fact& before, const Fact& after) {
  compare_names(list, before, after, Key::platforms, "platform",
                "programs that ask for the platform fail", "programs can ask for the platform");
  compare_names(list, before, after, Key::required_platforms, "promised platform",
                "not every operator serves the platform", "every operator serves the platform");
  compare_names(list, before, after, Key::backend_fallbacks, "platform with a general fallback",
                "operators without a kernel of their own fail there",
                "operators without a kernel of their own run there");
  compare_names(list, before, after, Key::architectures, "architecture of the fleet",
                "its machines are no longer to be served", "its machines are to be served");
  compare_maps(list, before, after);
  compare_aliases(list, before, after);
  compare_members({list, "on_duplicate", {}, {}, {}}, manifest_rows, before, after);
  compare_caches(list, before, after);
  list.both(before, after, Key::libraries);
  compare_dispatches(list, before, after);
}

}  // namespace opseal
