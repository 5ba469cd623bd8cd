// RELA: 24-byte entries (address, symbol number above a 32-bit type, addend); REL: 16 bytes, the
// addend stands at the address. RELR: 8-byte words; an even one is an address, an odd one says with
// its other 63 bits which of the 63 words behind the last address hold pointers, too.

#include <algorithm>

#include "analyzers/native/budget.h"
#include "analyzers/native/elf_dynamic.h"

namespace opseal {
namespace {

constexpr std::uint16_t x86_64 = 62;
constexpr std::uint16_t aarch64 = 183;

enum class Relocation : std::uint8_t { other, relative, indirect, symbol, symbol_and_addend };

// Numbers from the processor supplements of the System V ABI.
Relocation relocation(std::uint16_t machine, std::uint32_t type) {
  if (machine == x86_64) {
    switch (type) {
      case 1:
        return Relocation::symbol_and_addend;
      case 6:
      case 7:
        return Relocation::symbol;
      case 8:
      case 38:
        return Relocation::relative;
      case 37:
        return Relocation::indirect;
      default:
        return Relocation::other;
    }
  }
  switch (type) {
    case 257:
    case 1025:
    case 1026:
      return Relocation::symbol_and_addend;
    case 1027:
      return Relocation::relative;
    case 1032:
      return Relocation::indirect;
    default:
      return Relocation::other;
  }
}

class PointerReader {
 public:
  explicit PointerReader(const Elf& elf)
      : elf_(elf),
        dynamic_(read_dynamic_table(elf)),
        symbols_(dynamic_symbol_table(elf, dynamic_)) {}

  std::vector<ElfPointer> read() {
    namespace tag = dynamic_tag;
    constexpr std::uint64_t with_addends = 7;
    add_entries(table(tag::rela, tag::rela_size), true);
    add_entries(table(tag::rel, tag::rel_size), false);
    add_entries(table(tag::plt, tag::plt_size),
                dynamic_.value(tag::plt_form).value_or(with_addends) == with_addends);
    add_packed(table(tag::relr, tag::relr_size));
    if (dynamic_.entries.empty()) add_sections();
    const auto earlier = [](const ElfPointer& a, const ElfPointer& b) {
      return a.address < b.address;
    };
    // There may be millions, and linkers sort the bulk of them, which come first.
    const auto sorted = std::is_sorted_until(pointers_.begin(), pointers_.end(), earlier);
    std::stable_sort(sorted, pointers_.end(), earlier);
    std::inplace_merge(pointers_.begin(), sorted, pointers_.end(), earlier);
    return std::move(pointers_);
  }

 private:
  Bytes table(std::uint64_t address_tag, std::uint64_t size_tag) const {
    return table_at(elf_, dynamic_.value(address_tag), dynamic_.value(size_tag), "relocations");
  }

  // Of programs that are loaded where they say, and have no dynamic table.
  void add_sections() {
    constexpr std::uint32_t rela = 4, rel = 9;
    for (const ElfSection& section : elf_.sections()) {
      if (!section.is_allocated()) continue;
      if (section.type == rela) add_entries(elf_.data(section), true);
      if (section.type == rel) add_entries(elf_.data(section), false);
    }
  }

  // Of the eight bytes that stand there; 0 where none do.
  std::uint64_t value_at(std::uint64_t address) const {
    const Bytes bytes = elf_.at_address(address);
    return bytes.holds(0, 8) ? bytes.u64(0) : 0;
  }

  void add_entries(const Bytes& bytes, bool with_addend) {
    const std::uint64_t size = with_addend ? 24 : 16;
    const std::uint64_t count = bytes.size() / size;
    pointers_.reserve(pointers_.size() + count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = i * size;
      const std::uint64_t information = bytes.u64(at + 8);
      const Relocation kind =
          relocation(elf_.machine(), static_cast<std::uint32_t>(information & 0xffffffff));
      if (kind == Relocation::other) continue;
      ElfPointer pointer{bytes.u64(at), 0, {}};
      // A slot of the procedure linkage table holds a place in that table before it is filled in.
      const std::uint64_t addend = with_addend                  ? bytes.u64(at + 16)
                                   : kind == Relocation::symbol ? 0
                                                                : value_at(pointer.address);
      if (kind == Relocation::relative || kind == Relocation::indirect) {
        pointer.target = addend;
      } else {
        const ElfSymbol symbol = symbols_.symbol(information >> 32);
        budget_.take(symbol.name, bytes.offset() + at);
        pointer.symbol = symbol.name;
        if (symbol.is_defined()) {
          pointer.target = symbol.value + (kind == Relocation::symbol ? 0 : addend);
        }
      }
      pointers_.push_back(pointer);
    }
  }

  void add_packed(const Bytes& bytes) {
    // Each stands in eight bytes of the file, while a few bits may claim any number of them.
    const std::uint64_t most = pointers_.size() + elf_.file().size() / 8;
    std::uint64_t next = 0;
    for (std::uint64_t at = 0; bytes.holds(at, 8); at += 8) {
      if (pointers_.size() > most) {
        throw InputError(bytes.offset() + at, 8,
                         "packed relocations of more than " + std::to_string(most) +
                             " pointers in a file of " + std::to_string(elf_.file().size()) +
                             " bytes");
      }
      const std::uint64_t word = bytes.u64(at);
      if ((word & 1) == 0) {
        pointers_.push_back({word, value_at(word), {}});
        next = word + 8;
        continue;
      }
      for (std::uint64_t bit = 0; bit < 63; ++bit) {
        if ((word >> (bit + 1) & 1) == 0) continue;
        pointers_.push_back({next + bit * 8, value_at(next + bit * 8), {}});
      }
      next += std::uint64_t{63} * 8;
    }
  }

  const Elf& elf_;
  DynamicTable dynamic_;
  SymbolTable symbols_;
  // Many relocations may name one symbol.
  Budget budget_{elf_.file(), "names of relocations", 64};
  std::vector<ElfPointer> pointers_;
};

}  // namespace

std::vector<ElfPointer> read_pointers(const Elf& elf) {
  if (elf.machine() != x86_64 && elf.machine() != aarch64) return {};
  return PointerReader(elf).read();
}

}  // namespace opseal
