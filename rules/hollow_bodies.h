#pragma once

#include <cstdint>

#include "opseal/rule.h"

namespace opseal {

// Instructions of a body that does nothing: loads of its parameters and an exit. Measured: guarded
// bodies have 2 to 8. `explain` says the number, too.
inline constexpr std::uint32_t most_of_nothing = 8;

// How much speaks for a hollow body being launched.
enum class HollowEvidence : std::uint8_t {
  // A stated fleet has a device that runs it, or it is newer than architectures of two major
  // numbers that store, or sources of the run start it without a question.
  strong,
  // All others, which a host that tests for the same devices may never launch.
  weak
};

enum class Body : std::uint8_t {
  // Nobody looked.
  unknown,
  // Ends at once without a store or a trap.
  hollow,
  // Stores.
  full,
  other
};

// What a kernel of an image does.
Body body_of(const Fact& kernel);

// Tells kernels whose bodies of one unit store for some devices and end at once on others. Counts
// those that evidence of that kind could judge.
void check_hollow_bodies(const Facts& facts, Sink& sink, HollowEvidence wanted);

}  // namespace opseal
