#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// What a change means for users, weakest first.
enum class Impact : std::uint8_t { additive, speed, numerics, breaking };
// The part of a version number that has to move, smallest first.
enum class Bump : std::uint8_t { patch, minor, major };

// One difference between two dumps.
struct Change {
  // One of `change_kinds`.
  std::string_view kind;
  Impact impact = Impact::additive;
  Bump bump = Bump::minor;
  // What it is about: `namespace::operator`, a target, a cache.
  std::string subject;
  // What is there now, and what was; the same for every subject to which the same happened.
  std::string message;
  // What users see of it.
  std::string_view meaning;
  // Where the dumps say it; unknown in the dump that has nothing there.
  Location before;
  Location after;
  // Why it is accepted; empty where nothing silences it.
  std::string silenced_reason = {};

  bool silenced() const { return !silenced_reason.empty(); }
};

struct Changes {
  // In the order in which they were found.
  std::vector<Change> list;
  // Facts that only one dump says, by key: no changes, since the other just may not say them.
  std::map<std::string_view, std::uint64_t> unsaid;
  // Operators and targets of one dump that the other can't tell about, since its list was left out
  // or not read as a whole.
  std::uint64_t unpaired = 0;
  // Systems that manifests of only that dump are of: nothing in them is compared.
  std::vector<std::string> systems_before;
  std::vector<std::string> systems_after;
};

// Everything that differs between the dump before and the one after, but for places and for how a
// fact was learned. Needs: the facts hold both.
Changes find_changes(const Facts& facts);

// All kinds of changes: `operator-removed`, `jvp`, `kernel-added`.
std::span<const std::string_view> change_kinds();

// "breaking", "numerics", "speed", "additive".
const char* to_text(Impact impact);
// "major", "minor", "patch".
const char* to_text(Bump bump);
// The bump that an impact asks for where nothing else is known.
Bump usual_bump(Impact impact);

}  // namespace opseal
