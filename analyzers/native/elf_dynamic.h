#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/native/elf.h"

namespace opseal {

// What the readers of ELF's dynamic tables share; nobody else needs it.

// DT_...: tags of the dynamic section, from the System V ABI and its GNU extensions.
namespace dynamic_tag {
constexpr std::uint64_t needed = 1, plt_size = 2, hash = 4, texts = 5, symbols = 6, rela = 7,
                        rela_size = 8, texts_size = 10, soname = 14, rpath = 15, rel = 17,
                        rel_size = 18, plt_form = 20, plt = 23, run_path = 29, relr_size = 35,
                        relr = 36, gnu_hash = 0x6ffffef5, symbol_versions = 0x6ffffff0,
                        version_definitions = 0x6ffffffc, version_definition_count = 0x6ffffffd,
                        version_needs = 0x6ffffffe, version_need_count = 0x6fffffff;
}  // namespace dynamic_tag

struct DynamicTable {
  // Tag and value, in order, up to the first that ends the table.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
  Bytes texts;

  // Of the first entry with that tag.
  std::optional<std::uint64_t> value(std::uint64_t tag) const {
    for (const auto& [its_tag, value] : entries) {
      if (its_tag == tag) return value;
    }
    return std::nullopt;
  }
};

// Empty where the file has none. Throws InputError.
DynamicTable read_dynamic_table(const Elf& elf);

// A table of 24-byte symbols, with the texts of their names. `indices`: section indices of those
// symbols whose own field is too narrow (SHT_SYMTAB_SHNDX); empty mostly.
struct SymbolTable {
  Bytes entries;
  Bytes texts;
  Bytes indices;

  std::uint64_t count() const { return entries.size() / 24; }
  // Without a version. Throws InputError.
  ElfSymbol symbol(std::uint64_t index) const;
};

// Empty where the file has none. Throws InputError.
SymbolTable dynamic_symbol_table(const Elf& elf, const DynamicTable& dynamic);

// The bytes of a table that a pair of dynamic entries places, cut to its size.
Bytes table_at(const Elf& elf, std::optional<std::uint64_t> address,
               std::optional<std::uint64_t> size, const char* what);

}  // namespace opseal
