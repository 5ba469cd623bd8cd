#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace opseal {

// What the machine code of a kernel does, as far as it was looked at.
struct BodyFacts {
  // Those that are neither no-ops nor branches; -1: not counted.
  std::int32_t instructions = -1;
  bool writes = false;
  bool traps = false;
  bool calls = false;
};

// The first architecture whose instructions are 16 bytes each.
inline constexpr std::uint32_t first_readable_architecture = 70;
// Bodies of more instructions are not counted. A body that was hollowed out has two to eight.
inline constexpr std::uint64_t most_counted_instructions = 64;

// Bytes, from that architecture on.
inline constexpr std::uint64_t instruction_size = 16;

// `body`: the instructions of one function for sm_70 or newer, whole ones; a rest is ignored. A
// body that is too long to be counted is read from its end, where stores are, and only up to the
// first that writes: `traps` and `calls` then say nothing about what lies before.
BodyFacts look_at_body(std::string_view body);

// All that it asks of one instruction, as a byte; and the same from such bytes.
std::uint8_t sass_effect(const char* instruction);
BodyFacts look_at_effects(std::span<const std::uint8_t> body);

}  // namespace opseal
