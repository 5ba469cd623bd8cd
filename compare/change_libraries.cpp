#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "compare/change_members.h"
#include "opseal/paths.h"
#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using enum Impact;

constexpr Judgement fewer{breaking, "what needs them finds none"};
constexpr Judgement more{additive, "more machines or callers are served"};

constexpr Judged rows[] = {
    {.key = Key::architectures, .worse_if = Worse::lost, .worse = fewer, .better = more},
    {.key = Key::functions, .worse_if = Worse::lost, .worse = fewer, .better = more},
    {.key = Key::symbols_prefix,
     .worse = {breaking, "who looks up symbols by the old prefix finds none"}},
    {.key = Key::entry, .worse = {breaking, "who calls the old entry point finds none"}},
};

// Libraries by path, or by the name of the file where no two have the same: two builds seldom lie
// in one place.
std::map<std::string_view, Fact> by_path(const Fact& before, const Fact& after, const Fact& list) {
  std::map<std::string_view, Fact> by_name;
  bool distinct = true;
  for (const Fact& libraries : {before, after}) {
    std::map<std::string_view, Fact> names;
    for (const auto& [path, library] : by_text(libraries, Key::path)) {
      distinct = distinct && names.emplace(file_name_of(path), library).second;
    }
    if (libraries == list) by_name = std::move(names);
  }
  return distinct ? by_name : by_text(list, Key::path);
}

}  // namespace

void compare_libraries(ChangeList& list, const Fact& before, const Fact& after) {
  if (!list.both(before, after, Key::libraries)) return;
  const Fact was = before[Key::libraries];
  const Fact is = after[Key::libraries];
  auto then = by_path(was, is, was);
  auto now = by_path(was, is, is);
  // Two files that were given are two builds of one thing, whatever they are called.
  if (then.size() == 1 && now.size() == 1 && then.begin()->second[Key::format].said() &&
      now.begin()->second[Key::format].said()) {
    now = {{then.begin()->first, now.begin()->second}};
  }
  const bool then_known = all_read(was);
  const bool now_known = all_read(is);
  for (const auto& [name, library] : then) {
    const std::string subject(library[Key::path].text());
    const auto found = now.find(name);
    if (found != now.end()) {
      compare_members({list, subject, "library", {}, {}}, rows, library, found->second);
      compare_library_content(list, subject, library, found->second);
    } else if (now_known) {
      list.add(breaking, "library-removed", subject, "no such library any more",
               "what links or loads it by this path fails", library, is);
    }
  }
  for (const auto& [name, library] : now) {
    if (then.contains(name) || !then_known) continue;
    list.add(additive, "library-added", std::string(library[Key::path].text()), "new library",
             "there is more to load", was, library);
  }
}

}  // namespace opseal
