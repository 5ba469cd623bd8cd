#pragma once

#include <array>
#include <cstdint>

namespace opseal {

// What one instruction of AArch64 does to the addresses that code makes. Every instruction is one
// word of four bytes, so that all of them are decoded, one after another; an address is made by two
// (Arm's manual, part C6):
//
//   adrp x0, page          the page of 4 KiB, relative to the instruction's own
//   add  x0, x0, #offset   the address itself, or
//   ldr  x0, [x0, #offset] the pointer that the loader fills in there (global offset table)
//
// Compilers may put other instructions between the two. Pages are forgotten where their register is
// written, at calls, and where a function begins; jumps between the two are not followed.
struct Aarch64Step {
  enum class Kind : std::uint8_t {
    none,
    // `bl`.
    call,
    // `b`, with or without a condition.
    jump,
    // An address is in a register now.
    address,
    // What stands at an address is in a register now.
    pointer,
  };
  Kind kind = Kind::none;
  std::uint64_t target = 0;
  std::uint8_t to_register = 0;
};

class Aarch64Walk {
 public:
  // Nothing is known where a function begins.
  void restart() { known_ = 0; }

  Aarch64Step next(std::uint32_t instruction, std::uint64_t address);

 private:
  Aarch64Step relative(std::uint32_t instruction, std::uint64_t address);
  Aarch64Step data(std::uint32_t instruction);
  void forget_written(std::uint32_t instruction);
  // What is called may write the first nineteen.
  void forget_after_call() { known_ &= ~std::uint32_t{0x7FFFF}; }
  void forget(std::uint32_t number) { known_ &= ~(std::uint32_t{1} << number); }

  std::array<std::uint64_t, 32> pages_{};
  // Bits of registers that hold a page.
  std::uint32_t known_ = 0;
};

}  // namespace opseal
