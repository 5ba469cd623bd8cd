// `.gnu.version` holds for each symbol the number of a version; bit 15 marks one that isn't the
// default. Numbers 0 (local) and 1 (global) mean no version. `.gnu.version_d`: 20-byte entries with
// flags at 2, number at 4, distance to the first of its 8-byte names at 12 and to the next entry at
// 16. `.gnu.version_r`: 16-byte entries of one library each, with the count of versions at 2, the
// library's name at 4, the distance to the first version at 8 and to the next entry at 12; versions
// of 16 bytes with their number at 6, name at 8 and the distance to the next at 12. From the
// Linux Standard Base, "Symbol Versioning".

#include "analyzers/native/elf_versions.h"

#include "analyzers/native/budget.h"

namespace opseal {
namespace {

constexpr std::uint32_t definition_section = 0x6ffffffd;
constexpr std::uint32_t need_section = 0x6ffffffe;
constexpr std::uint32_t number_section = 0x6fffffff;
constexpr std::uint16_t is_file_name = 1;
constexpr std::uint16_t number_mask = 0x7fff;
constexpr std::uint16_t hidden_bit = 0x8000;

struct VersionTable {
  Bytes bytes;
  Bytes texts;
  std::uint64_t count = 0;
};

VersionTable version_table(const Elf& elf, const DynamicTable& dynamic, std::uint32_t section_type,
                           std::uint64_t address_tag, std::uint64_t count_tag) {
  for (const ElfSection& section : elf.sections()) {
    if (section.type != section_type) continue;
    VersionTable table{elf.data(section), dynamic.texts, section.info};
    if (section.link < elf.sections().size()) table.texts = elf.data(elf.sections()[section.link]);
    return table;
  }
  const auto address = dynamic.value(address_tag);
  const auto count = dynamic.value(count_tag);
  if (!elf.sections().empty() || !address || !count) return {};
  return {elf.at_address(*address), dynamic.texts, *count};
}

void number(SymbolVersions& versions, std::uint16_t number, SymbolVersions::Version version) {
  number &= number_mask;
  if (versions.numbered.size() <= number) versions.numbered.resize(std::size_t{number} + 1);
  versions.numbered[number] = version;
}

// Entries form a chain by distances that only go forward, so that no damage can make it endless.
void read_definitions(const VersionTable& table, Budget& budget, SymbolVersions& versions) {
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < table.count; ++i) {
    const Bytes entry = table.bytes.part(at, 20, "a version definition");
    const Bytes name = table.bytes.part(at + entry.u32(12), 8, "the name of a version");
    if ((entry.u16(2) & is_file_name) == 0) {
      versions.definitions.push_back(budget.take(table.texts.text(name.u32(0)), entry.offset()));
      number(versions, entry.u16(4), {versions.definitions.back(), {}});
    }
    if (entry.u32(16) == 0) break;
    at += entry.u32(16);
  }
}

void read_needs(const VersionTable& table, Budget& budget, SymbolVersions& versions) {
  // A damaged count of one library's versions can't be larger than what there is room for.
  std::uint64_t room = table.bytes.size() / 16;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < table.count; ++i) {
    const Bytes entry = table.bytes.part(at, 16, "a version need");
    const std::string_view library = budget.take(table.texts.text(entry.u32(4)), entry.offset());
    auto& [soname, names] = versions.needs.emplace_back(library, std::vector<std::string_view>());
    std::uint64_t version_at = at + entry.u32(8);
    for (std::uint64_t j = 0; j < entry.u16(2) && room > 0; ++j, --room) {
      const Bytes version = table.bytes.part(version_at, 16, "a needed version");
      names.push_back(budget.take(table.texts.text(version.u32(8)), version.offset()));
      number(versions, version.u16(6), {names.back(), library});
      if (version.u32(12) == 0) break;
      version_at += version.u32(12);
    }
    if (entry.u32(12) == 0) break;
    at += entry.u32(12);
  }
}

}  // namespace

const SymbolVersions::Version& SymbolVersions::of_symbol(std::uint64_t symbol) const {
  static constexpr Version none;
  if (!numbers.holds(symbol * 2, 2)) return none;
  const std::uint16_t number = numbers.u16(symbol * 2) & number_mask;
  return number < numbered.size() ? numbered[number] : none;
}

bool SymbolVersions::is_hidden(std::uint64_t symbol) const {
  return numbers.holds(symbol * 2, 2) && (numbers.u16(symbol * 2) & hidden_bit) != 0;
}

SymbolVersions read_symbol_versions(const Elf& elf, const DynamicTable& dynamic) {
  SymbolVersions versions;
  namespace tag = dynamic_tag;
  Budget budget(elf.file(), "names of versions");
  read_definitions(version_table(elf, dynamic, definition_section, tag::version_definitions,
                                 tag::version_definition_count),
                   budget, versions);
  read_needs(version_table(elf, dynamic, need_section, tag::version_needs, tag::version_need_count),
             budget, versions);
  for (const ElfSection& section : elf.sections()) {
    if (section.type == number_section) versions.numbers = elf.data(section);
  }
  const auto address = dynamic.value(tag::symbol_versions);
  if (elf.sections().empty() && address) versions.numbers = elf.at_address(*address);
  return versions;
}

}  // namespace opseal
