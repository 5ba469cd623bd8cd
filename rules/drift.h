#pragma once

#include <cstdint>
#include <vector>

#include "rules/two_dumps.h"

namespace opseal {

// One thing under two names.
struct Drift {
  Registered before;
  Registered after;
  // The fact by which it is the same thing, in the dump before.
  Fact same;
  bool is_target = true;
};

struct Drifts {
  std::vector<Drift> found;
  // Things that both dumps have, by something other than their names.
  std::uint64_t inspected = 0;
};

// Whether names of these two manifests are to be compared.
using Comparable = bool (*)(const Fact& before, const Fact& after);

// Targets and operators that are the same in both dumps and named differently. A target is the same
// by its content id, where `by_content`, or else by its function or symbol with all that goes with
// it, or else by the place where it is registered; an operator by that place. Of those told by
// function, symbol or place only what is there once in each dump is compared: one function may
// stand behind many names. And only names that differ in numbers or digests: each dump may have met
// another one of the many.
Drifts find_drifts(const Facts& facts, Comparable comparable, bool by_content);

// "target" or "operator".
const char* noun_of(const Drift& drift);

}  // namespace opseal
