#include "analyzers/native/aarch64_walk.h"

namespace opseal {
namespace {

constexpr std::uint64_t word = 4;

// The signed number in the bits from `first` on.
std::uint64_t signed_bits(std::uint32_t instruction, unsigned first, unsigned count) {
  const std::uint64_t number = instruction >> first & ((std::uint64_t{1} << count) - 1);
  const std::uint64_t sign = std::uint64_t{1} << (count - 1);
  return (number ^ sign) - sign;
}

constexpr bool matches(std::uint32_t instruction, std::uint32_t mask, std::uint32_t value) {
  return (instruction & mask) == value;
}

}  // namespace

Aarch64Step Aarch64Walk::next(std::uint32_t instruction, std::uint64_t address) {
  using Kind = Aarch64Step::Kind;
  if (matches(instruction, 0x7C000000, 0x14000000)) {
    const std::uint64_t target = address + signed_bits(instruction, 0, 26) * word;
    if ((instruction & 0x80000000) == 0) return {Kind::jump, target, 0};
    forget_after_call();
    return {Kind::call, target, 0};
  }
  // `blr`, and its forms that check a signed address.
  if (matches(instruction, 0xFEFFF000, 0xD63F0000)) {
    forget_after_call();
    return {};
  }
  if (matches(instruction, 0xFF000010, 0x54000000) ||
      matches(instruction, 0x7E000000, 0x34000000)) {
    return {Kind::jump, address + signed_bits(instruction, 5, 19) * word, 0};
  }
  if (matches(instruction, 0x7E000000, 0x36000000))
    return {Kind::jump, address + signed_bits(instruction, 5, 14) * word, 0};
  if (matches(instruction, 0x1F000000, 0x10000000)) return relative(instruction, address);
  return data(instruction);
}

Aarch64Step Aarch64Walk::relative(std::uint32_t instruction, std::uint64_t address) {
  const auto to = static_cast<std::uint8_t>(instruction & 31);
  const std::uint64_t distance = signed_bits(instruction, 5, 19) << 2 | (instruction >> 29 & 3);
  if ((instruction & 0x80000000) == 0) {
    forget(to);
    return {Aarch64Step::Kind::address, address + distance, to};
  }
  known_ |= std::uint32_t{1} << to;
  pages_[to] = (address & ~std::uint64_t{0xFFF}) + (distance << 12);
  return {};
}

Aarch64Step Aarch64Walk::data(std::uint32_t instruction) {
  const std::uint8_t from = instruction >> 5 & 31;
  const std::uint64_t page = pages_[from];
  const bool from_page = (known_ >> from & 1) != 0;
  forget_written(instruction);
  if (!from_page) return {};
  const auto to = static_cast<std::uint8_t>(instruction & 31);
  const std::uint64_t offset = instruction >> 10 & 0xFFF;
  // `add` of 64 bits without a shift, and `ldr` of 64 bits, which counts in units of 8.
  if (matches(instruction, 0xFFC00000, 0x91000000))
    return {Aarch64Step::Kind::address, page + offset, to};
  if (matches(instruction, 0xFFC00000, 0xF9400000))
    return {Aarch64Step::Kind::pointer, page + offset * 8, to};
  return {};
}

void Aarch64Walk::forget_written(std::uint32_t instruction) {
  const std::uint8_t first = instruction & 31;
  const std::uint8_t base = instruction >> 5 & 31;
  // `ldp`, `stp` and their kin: bit 22 loads, bit 23 writes the base back.
  if (matches(instruction, 0x3A000000, 0x28000000)) {
    if ((instruction & 0x00400000) != 0) {
      forget(first);
      forget(instruction >> 10 & 31);
    }
    if ((instruction & 0x00800000) != 0) forget(base);
    return;
  }
  // One register and an address that is stepped before or after.
  if (matches(instruction, 0x3B200400, 0x38000400)) forget(base);
  const bool stores = matches(instruction, 0x0AC00000, 0x08000000) &&
                      // Atomic operations give the old value back.
                      !matches(instruction, 0x3B200C00, 0x38200000);
  if (!stores) forget(first);
}

}  // namespace opseal
