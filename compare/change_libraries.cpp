#include <string>

#include "compare/change_members.h"
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

}  // namespace

void compare_libraries(ChangeList& list, const Fact& before, const Fact& after) {
  if (!list.both(before, after, Key::libraries)) return;
  const auto then = by_text(before[Key::libraries], Key::path);
  const auto now = by_text(after[Key::libraries], Key::path);
  const bool then_known = all_read(before[Key::libraries]);
  const bool now_known = all_read(after[Key::libraries]);
  for (const auto& [path, library] : then) {
    const std::string subject(path);
    const auto found = now.find(path);
    if (found != now.end()) {
      compare_members({list, subject, "library", {}, {}}, rows, library, found->second);
    } else if (now_known) {
      list.add(breaking, "library-removed", subject, "no such library any more",
               "what links or loads it by this path fails", library, after[Key::libraries]);
    }
  }
  for (const auto& [path, library] : now) {
    if (then.contains(path) || !then_known) continue;
    list.add(additive, "library-added", std::string(path), "new library", "there is more to load",
             before[Key::libraries], library);
  }
}

}  // namespace opseal
