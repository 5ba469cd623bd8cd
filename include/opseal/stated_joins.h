#pragma once

#include <string_view>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// What `joins` states, in a manifest or by the `[join]` of the configuration: registrations of
// several systems that are one operator.

// An operator or a target that an entry names.
struct JoinedItem {
  Fact manifest;
  Fact item;
  bool target = false;
  // The text that names it.
  Fact stated;
};

// One entry, with all that its texts name: more than one item for a text where versions or
// platforms share a name.
struct StatedJoin {
  std::vector<JoinedItem> items;
};

// A text of an entry that names nothing, though the inputs hold a registry in which to look.
struct LostJoin {
  Fact text;
  // The nearest name there, or empty. Good as long as the facts are.
  std::string_view nearest;
};

struct StatedJoins {
  std::vector<StatedJoin> joins;
  std::vector<LostJoin> lost;
};

// A text is a name as registered, as reports write it (`mylib::rope`, `ai.mylib::Rope@2`), or
// either behind the system (`torch::mylib::rope`). Linear in registrations and texts.
StatedJoins read_stated_joins(const Facts& facts);

}  // namespace opseal
