#pragma once

#include "opseal/registration.h"

namespace opseal {

// The member is there, and what stands in it couldn't be read.
inline bool is_unread(const Fact& member) { return member.key() != Key::none && !member.said(); }

// A list or map of which some, or all, couldn't be read: what isn't found in it may be there all
// the same. False for a member that nobody gave.
inline bool is_partly_unread(const Fact& member) {
  if (is_unread(member)) return true;
  for (const Fact item : member.items()) {
    if (!item.said()) return true;
  }
  for (const EntryRange::Entry entry : member.entries()) {
    if (!entry.value.said()) return true;
  }
  return false;
}

}  // namespace opseal
