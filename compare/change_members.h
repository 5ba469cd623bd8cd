#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compare/change_list.h"

namespace opseal {

// Which way a member has to move for users to lose by it.
enum class Worse : std::uint8_t {
  // Any change.
  any,
  // A greater number; `true` is greater than `false`, and `null`, which sets no bound, than all.
  higher,
  lower,
  // Elements or entries went; of anything else, it is `null` now. The order of a list means
  // nothing.
  lost,
  // Elements or entries came; of anything else, it was `null`. As above.
  gained,
  // A word that stands later among `Judged::words`.
  later,
  // It is `null` now. Only that it is there or not is compared: rows of its members say the rest.
  gone,
};

struct Judgement {
  Impact impact = Impact::breaking;
  std::string_view meaning;
};

// What a change of one member means.
struct Judged {
  // The object that the member is in, or `none`: the item itself.
  Key parent = Key::none;
  Key key = Key::none;
  Worse worse_if = Worse::any;
  Judgement worse;
  // Of a change the other way; not looked at under `Worse::any`.
  Judgement better = {};
  std::span<const std::string_view> words = {};
};

// Where such changes go, and the words around the path of the member.
struct JudgedItem {
  ChangeList& list;
  const std::string& subject;
  // Empty: the key of the member, or of the object that it is in.
  std::string_view kind;
  std::string front;
  std::string behind;
};

void compare_members(const JudgedItem& item, std::span<const Judged> rows, const Fact& before,
                     const Fact& after);

}  // namespace opseal
