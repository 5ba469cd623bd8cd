#include <string>

#include "compare/change_list.h"
#include "opseal/text.h"

namespace opseal {
namespace {

struct Member {
  Key key;
  Impact impact;
  std::string_view meaning;
};

constexpr Member members[] = {
    {Key::api_version, Impact::breaking, "stored programs call it by the old convention"},
    {Key::spec, Impact::breaking, "stored programs pass it other buffers or attributes"},
    {Key::content, Impact::numerics, "stored programs run other code under the old name"},
    {Key::symbol, Impact::speed, "other code runs: speed may change"},
    {Key::stages, Impact::speed, "it is prepared or started in another way"},
    {Key::traits, Impact::speed, "what may be recorded or replayed changes"},
};

}  // namespace

void compare_target(const Compared& compared) {
  for (const Member& member : members) {
    if (!compared.list.both(compared.before(), compared.after(), member.key)) continue;
    const Fact then = compared.before()[member.key];
    const Fact now = compared.after()[member.key];
    if (same_meaning(then, now)) continue;
    compared.list.add(member.impact, to_text(member.key), compared.subject,
                      quote(to_text(member.key)) + " of the target is " + value_text(now) +
                          ", before " + value_text(then),
                      member.meaning, then, now);
  }
}

}  // namespace opseal
