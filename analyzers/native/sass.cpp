// From sm_70 on an instruction takes 16 bytes. The low 9 bits of its first word tell the operation,
// the 3 above them where its operands come from, and the next 4 the predicate. There is no public
// table: these were read off probes, one for each PTX instruction that writes, compiled for sm_75,
// 80, 90, 90a, 100, 100a, 103f and 120a, and off libraries of the CUDA toolkit, with `nvdisasm
// -hex`. Over the 273 operations that occurred there, equal low 9 bits meant one operation, but for
// the few older ones that have none of those below.

#include "analyzers/native/sass.h"

#include <array>
#include <cstring>

namespace opseal {
namespace {

constexpr std::uint16_t operation_mask = 0x1ff;

enum Effects : std::uint8_t {
  not_counted = 1,
  a_write = 2,
  a_trap = 4,
  a_call = 8,
};

struct Operation {
  std::uint16_t number;
  std::uint8_t effect;
};

// A write is what others than the block's own threads may see. Stores to shared (STS, STSM, ATOMS),
// local (STL) and tensor memory (STTM) are none; what addresses other blocks of a cluster is one.
// UBLKCP copies in bulk, whichever way, and counts as a write: the direction is an operand.
constexpr Operation operations[] = {
    {0x118, not_counted},  // NOP
    {0x147, not_counted},  // BRA
    {0x149, not_counted},  // BRX
    {0x158, not_counted},  // BRXU
    {0x15c, a_trap},       // BPT: `trap`, `brkpt`
    {0x143, a_call},       // CALL.ABS
    {0x144, a_call},       // CALL.REL
    {0x185, a_write},      // ST, any address
    {0x186, a_write},      // STG, also `multimem.st`
    {0x18a, a_write},      // ATOM
    {0x18b, a_write},      // ATOM.CAS
    {0x18e, a_write},      // RED
    {0x19b, a_write},      // SUST.P
    {0x19d, a_write},      // SUST.D
    {0x19f, a_write},      // SURED
    {0x1a2, a_write},      // ATOM of floating point
    {0x1a3, a_write},      // ATOMG of floating point
    {0x1a6, a_write},      // REDG of floating point, also `multimem.red`
    {0x1a8, a_write},      // ATOMG
    {0x1a9, a_write},      // ATOMG.CAS
    {0x1b5, a_write},      // UTMASTG, tensor copy
    {0x1b6, a_write},      // UTMAREDG, tensor reduction
    {0x1ba, a_write},      // UBLKCP
    {0x1bb, a_write},      // UBLKRED, bulk reduction
    {0x1bd, a_write},      // STAS, asynchronous, to a cluster's shared memory
    {0x1be, a_write},      // REDAS, the same as a reduction
};

constexpr std::array<std::uint8_t, operation_mask + 1> make_effects() {
  std::array<std::uint8_t, operation_mask + 1> effects{};
  for (const Operation& operation : operations) effects[operation.number] = operation.effect;
  return effects;
}
constexpr std::array<std::uint8_t, operation_mask + 1> effects = make_effects();

// `effect(i)`: of instruction number i.
template <typename Effect>
BodyFacts look_at(std::uint64_t count, Effect effect) {
  const bool counted = count <= most_counted_instructions;
  BodyFacts facts;
  std::int32_t instructions = 0;
  std::uint8_t seen = 0;
  for (std::uint64_t i = count; i > 0; --i) {
    const std::uint8_t here = effect(i - 1);
    seen |= here;
    if ((here & not_counted) == 0) ++instructions;
    if ((here & a_write) != 0 && !counted) break;
  }
  if (counted) facts.instructions = instructions;
  facts.writes = (seen & a_write) != 0;
  facts.traps = (seen & a_trap) != 0;
  facts.calls = (seen & a_call) != 0;
  return facts;
}

}  // namespace

std::uint8_t sass_effect(const char* instruction) {
  std::uint16_t word;
  std::memcpy(&word, instruction, sizeof word);
  return effects[word & operation_mask];
}

BodyFacts look_at_body(std::string_view body) {
  return look_at(body.size() / instruction_size, [body](std::uint64_t i) {
    return sass_effect(body.data() + i * instruction_size);
  });
}

BodyFacts look_at_effects(std::span<const std::uint8_t> body) {
  return look_at(body.size(), [body](std::uint64_t i) { return body[i]; });
}

}  // namespace opseal
