// The code of a host library for AArch64. Every instruction is one word of four bytes, so that all
// of them are decoded, one after another; an address is made by two (Arm's manual, part C6):
//
//   adrp x0, page          the page of 4 KiB, relative to the instruction's own
//   add  x0, x0, #offset   the address itself, or
//   ldr  x0, [x0, #offset] the pointer that the loader fills in there (global offset table)
//
// Compilers may put other instructions between the two. Pages are forgotten where their register is
// written, at calls, and where a function begins; jumps between the two are not followed.

#include <algorithm>
#include <array>
#include <cstring>

#include "analyzers/native/budget.h"
#include "analyzers/native/code_targets.h"
#include "analyzers/native/host_links.h"

namespace opseal {
namespace {

constexpr std::uint64_t word = 4;

std::uint32_t word_at(std::string_view code, std::size_t at) {
  std::uint32_t number;
  std::memcpy(&number, code.data() + at, sizeof number);
  return number;
}

// The signed number in the bits from `first` on.
std::uint64_t signed_bits(std::uint32_t instruction, unsigned first, unsigned count) {
  const std::uint64_t number = instruction >> first & ((std::uint64_t{1} << count) - 1);
  const std::uint64_t sign = std::uint64_t{1} << (count - 1);
  return (number ^ sign) - sign;
}

struct Step {
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

class Walk {
 public:
  // Nothing is known where a function begins.
  void restart() { known_ = 0; }

  Step next(std::uint32_t instruction, std::uint64_t address) {
    if ((instruction & 0x7C000000) == 0x14000000) return branch(instruction, address);
    if ((instruction & 0xFF000010) == 0x54000000 || (instruction & 0x7E000000) == 0x34000000)
      return {Step::Kind::jump, address + signed_bits(instruction, 5, 19) * word, 0};
    if ((instruction & 0x7E000000) == 0x36000000)
      return {Step::Kind::jump, address + signed_bits(instruction, 5, 14) * word, 0};
    return data(instruction, address);
  }

 private:
  Step branch(std::uint32_t instruction, std::uint64_t address) {
    const std::uint64_t target = address + signed_bits(instruction, 0, 26) * word;
    if ((instruction & 0x80000000) == 0) return {Step::Kind::jump, target, 0};
    // What is called may write the first nineteen.
    known_ &= ~std::uint32_t{0x7FFFF};
    return {Step::Kind::call, target, 0};
  }

  Step data(std::uint32_t instruction, std::uint64_t address) {
    const auto to = static_cast<std::uint8_t>(instruction & 31);
    const std::uint8_t from = instruction >> 5 & 31;
    const std::uint64_t offset = instruction >> 10 & 0xFFF;
    const bool from_page = (known_ >> from & 1) != 0;
    if ((instruction & 0x1F000000) == 0x10000000) {
      const std::uint64_t distance = signed_bits(instruction, 5, 19) << 2 | (instruction >> 29 & 3);
      if ((instruction & 0x80000000) == 0) {
        forget(to);
        return {Step::Kind::address, address + distance, to};
      }
      known_ |= std::uint32_t{1} << to;
      pages_[to] = (address & ~std::uint64_t{0xFFF}) + (distance << 12);
      return {};
    }
    if (is_store(instruction)) return {};
    forget(to);
    if (!from_page) return {};
    // `add` of 64 bits without a shift, and `ldr` of 64 bits, which counts in units of 8.
    if ((instruction & 0xFFC00000) == 0x91000000)
      return {Step::Kind::address, pages_[from] + offset, to};
    if ((instruction & 0xFFC00000) == 0xF9400000)
      return {Step::Kind::pointer, pages_[from] + offset * 8, to};
    return {};
  }

  // Its first register is read and not written.
  static bool is_store(std::uint32_t instruction) {
    return (instruction & 0x0A000000) == 0x08000000 && (instruction & 0x00C00000) == 0;
  }
  void forget(std::uint8_t number) { known_ &= ~(std::uint32_t{1} << number); }

  std::array<std::uint64_t, 32> pages_{};
  // Bits of registers that hold a page.
  std::uint32_t known_ = 0;
};

}  // namespace

// A PLT entry: `adrp x16`, `ldr x17, [x16]`, `add x16`, `br x17`, maybe behind a `bti`.
std::uint64_t HostCode::behind_plt_aarch64(std::uint64_t address) const {
  constexpr std::uint32_t branch_by_x17 = 0xD61F0220;
  constexpr std::size_t most = 5;
  const std::string_view code = code_at(address, most * word);
  Walk walk;
  std::uint64_t place = 0;
  for (std::size_t at = 0; at + word <= code.size(); at += word) {
    const std::uint32_t instruction = word_at(code, at);
    if (instruction == branch_by_x17) return place == 0 ? address : pointer_at(place);
    const Step step = walk.next(instruction, address + at);
    if (step.kind == Step::Kind::call || step.kind == Step::Kind::jump) break;
    if (step.kind == Step::Kind::pointer && step.to_register == 17) place = step.target;
  }
  return address;
}

void HostCode::references_aarch64(const CodeTargets& targets,
                                  std::vector<CodeReference>& references) const {
  Budget budget(elf_.file(), "code");
  for (const auto& [first, end] : elf_.code()) {
    const std::string_view code = code_at(first, end - first);
    budget.take(code.size(), elf_.file().offset());
    auto function =
        std::lower_bound(functions_.begin(), functions_.end(), first,
                         [](const auto& row, std::uint64_t wanted) { return row.first < wanted; });
    Walk walk;
    for (std::size_t at = 0; at + word <= code.size(); at += word) {
      const std::uint64_t from = first + at;
      for (; function != functions_.end() && function->first <= from; ++function) walk.restart();
      const Step step = walk.next(word_at(code, at), from);
      std::uint64_t to = 0;
      if (step.kind == Step::Kind::address) to = targets.direct(step.target);
      if (step.kind == Step::Kind::pointer) to = targets.indirect(step.target);
      if (to != 0) references.push_back({from, to, step.to_register});
    }
  }
}

CodeEdges HostCode::edges_aarch64(std::uint64_t function, std::string_view code) const {
  CodeEdges edges;
  Walk walk;
  for (std::size_t at = 0; at + word <= code.size(); at += word) {
    const Step step = walk.next(word_at(code, at), function + at);
    if (step.kind == Step::Kind::none) continue;
    std::uint64_t target = step.target;
    if (step.kind == Step::Kind::pointer) target = pointer_at(target);
    if (target != 0 && step.kind != Step::Kind::jump) target = behind_plt_aarch64(target);
    if (step.kind == Step::Kind::jump) {
      const std::uint64_t behind = behind_plt_aarch64(target);
      target = behind == target ? function_of(target) : behind;
    }
    if (target == 0 || target == function || !is_function(target)) continue;
    const bool called = step.kind == Step::Kind::call || step.kind == Step::Kind::jump;
    (called ? edges.calls : edges.loads).push_back(target);
  }
  return edges;
}

}  // namespace opseal
