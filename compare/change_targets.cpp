#include "compare/change_members.h"

namespace opseal {
namespace {

using enum Impact;

constexpr std::string_view name_sources[] = {"explicit", "content", "counter"};

constexpr Judged rows[] = {
    {.key = Key::api_version, .worse = {breaking, "stored programs call it by the old convention"}},
    {.parent = Key::ffi_version,
     .key = Key::major,
     .worse = {breaking, "runtimes of the other version refuse it"}},
    {.parent = Key::ffi_version,
     .key = Key::minor,
     .worse_if = Worse::higher,
     .worse = {breaking, "runtimes that are older may refuse it"},
     .better = {additive, "older runtimes take it"}},
    {.key = Key::handler_kind,
     .worse = {breaking, "the code behind it is called by another convention"}},
    {.key = Key::spec, .worse = {breaking, "stored programs pass it other buffers or attributes"}},
    {.key = Key::content, .worse = {numerics, "stored programs run other code under the old name"}},
    {.key = Key::symbol, .worse = {speed, "other code runs: speed may change"}},
    {.key = Key::function,
     .worse = {numerics, "stored programs run other code under the old name"}},
    {.key = Key::stages, .worse = {speed, "it is prepared or started in another way"}},
    {.key = Key::declared_stages, .worse = {speed, "it is prepared or started in another way"}},
    {.key = Key::traits,
     .worse_if = Worse::lost,
     .worse = {speed, "it may no longer be recorded or replayed as it was"},
     .better = {speed, "more may be done with it, such as recording and replaying"}},
    {.key = Key::pinned,
     .worse_if = Worse::lower,
     .worse = {breaking, "the callback may be freed while programs still call it"},
     .better = {additive, "the callback lives as long as programs that call it"}},
    {.key = Key::replace,
     .worse_if = Worse::higher,
     .worse = {numerics, "whatever had the name before is replaced without a word"},
     .better = {additive, "nothing is replaced any more"}},
    {.key = Key::name_from,
     .worse_if = Worse::later,
     .worse = {breaking, "the name may be another one in another process or release"},
     .better = {additive, "the name stays what it is for longer"},
     .words = name_sources},
};

// One platform, as a family and as a member of it.
void compare_spelling(const Compared& compared) {
  const Fact then = compared.before()[Key::platform];
  const Fact now = compared.after()[Key::platform];
  if (!then.is_text() || !now.is_text()) return;
  if (same_platform(compared.names_before().of(then), compared.names_after().of(now))) return;
  compared.list
      .add(additive, "platforms", compared.subject,
           "registered for " + value_text(now) + ", before for " + value_text(then) +
               ": one platform under another name",
           "calls find it as before", then, now)
      .bump = Bump::patch;
}

}  // namespace

void compare_target(const Compared& compared) {
  compare_spelling(compared);
  compare_members({compared.list, compared.subject, {}, {}, " of the target"}, rows,
                  compared.before(), compared.after());
}

}  // namespace opseal
