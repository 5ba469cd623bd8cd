#include "analyzers/native/elf_dynamic.h"

#include <algorithm>
#include <cstring>

#include "analyzers/native/budget.h"
#include "analyzers/native/elf_versions.h"

namespace opseal {
namespace {

constexpr std::uint32_t symbol_section = 2;
constexpr std::uint32_t dynamic_section = 6;
constexpr std::uint32_t no_bits = 8;
constexpr std::uint32_t dynamic_symbol_section = 11;
constexpr std::uint32_t section_index_section = 18;
constexpr std::uint32_t dynamic_segment = 2;
constexpr std::uint64_t symbol_size = 24;
constexpr std::uint16_t extended_section_index = 0xffff;
constexpr std::uint32_t absolute = 0xfff1;
constexpr const char* names_of_symbols = "names of symbols";

const ElfSection* section_of_type(const Elf& elf, std::uint32_t type) {
  const std::vector<ElfSection>& all = elf.sections();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ElfSection& section) { return section.type == type; });
  return found == all.end() ? nullptr : &*found;
}

// The section that another one names by its number.
Bytes linked_data(const Elf& elf, const ElfSection& section) {
  if (section.link >= elf.sections().size()) {
    throw InputError(elf.file().offset(), 0,
                     "section `" + std::string(section.name) + "` refers to section " +
                         std::to_string(section.link) + " of " +
                         std::to_string(elf.sections().size()));
  }
  return elf.data(elf.sections()[section.link]);
}

Bytes dynamic_bytes(const Elf& elf) {
  for (const ElfSection& section : elf.sections()) {
    if (section.type == dynamic_section) return elf.data(section);
    // The headers of separate debug information keep their places, and those bytes are elsewhere.
    if (section.type == no_bits && section.name == ".dynamic") return Bytes();
  }
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type == dynamic_segment) {
      return elf.file().part(segment.offset, segment.file_size, "the dynamic section");
    }
  }
  return Bytes();
}

// DT_GNU_HASH: bucket count, number of the first symbol in it, words of the Bloom filter, a shift;
// the filter's 8-byte words; for each bucket its first symbol; for each symbol a hash, whose lowest
// bit ends its bucket. Nothing where no symbol is in it: it says nothing of the others then.
std::optional<std::uint64_t> symbols_by_gnu_hash(const Bytes& hash) {
  const std::uint64_t buckets = hash.u32(0);
  const std::uint64_t first = hash.u32(4);
  const Bytes after_filter = hash.from(16 + std::uint64_t{hash.u32(8)} * 8, "a hash table");
  std::uint64_t last = 0;
  const Bytes starts = after_filter.part(0, buckets * 4, "buckets of a hash table");
  for (std::uint64_t i = 0; i < buckets; ++i)
    last = std::max<std::uint64_t>(last, starts.u32(i * 4));
  if (last == 0 || last < first) return std::nullopt;
  while ((after_filter.u32((buckets + last - first) * 4) & 1) == 0) ++last;
  return last + 1;
}

// Nobody states the length of the symbol table but the hash table, and an empty one not even that.
// What is left then: the table reaches at most to the next one.
std::uint64_t room_for_symbols(const DynamicTable& dynamic, std::uint64_t address) {
  std::uint64_t end = UINT64_MAX;
  namespace tag = dynamic_tag;
  for (const std::uint64_t other :
       {tag::hash, tag::texts, tag::rela, tag::rel, tag::plt, tag::relr, tag::gnu_hash,
        tag::symbol_versions, tag::version_definitions, tag::version_needs}) {
    const std::optional<std::uint64_t> at = dynamic.value(other);
    if (at && *at > address) end = std::min(end, *at);
  }
  return end == UINT64_MAX ? 0 : (end - address) / symbol_size;
}

std::uint64_t dynamic_symbol_count(const Elf& elf, const DynamicTable& dynamic,
                                   std::uint64_t address) {
  if (const auto at = dynamic.value(dynamic_tag::hash)) return elf.at_address(*at).u32(4);
  if (const auto at = dynamic.value(dynamic_tag::gnu_hash)) {
    if (const auto count = symbols_by_gnu_hash(elf.at_address(*at))) return *count;
  }
  return room_for_symbols(dynamic, address);
}

SymbolTable static_symbol_table(const Elf& elf) {
  const ElfSection* section = section_of_type(elf, symbol_section);
  if (section == nullptr) return {};
  SymbolTable table{elf.data(*section), linked_data(elf, *section), Bytes()};
  const auto number = static_cast<std::uint64_t>(section - elf.sections().data());
  for (const ElfSection& other : elf.sections()) {
    if (other.type == section_index_section && other.link == number) {
      table.indices = elf.data(other);
    }
  }
  return table;
}

// Of each text that holds `part` its start and the last place of `part` in it, sorted: a name that
// begins in between holds it, too, since names may be ends of others.
std::vector<std::pair<std::uint64_t, std::uint64_t>> names_with(std::string_view texts,
                                                                std::string_view part) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> names;
  std::size_t at = 0;
  while (at < texts.size()) {
    const void* found = ::memmem(texts.data() + at, texts.size() - at, part.data(), part.size());
    if (found == nullptr) break;
    const auto place = static_cast<std::size_t>(static_cast<const char*>(found) - texts.data());
    std::size_t start = place;
    while (start > 0 && texts[start - 1] != '\0') --start;
    if (!names.empty() && names.back().first == start) {
      names.back().second = place;
    } else {
      names.emplace_back(start, place);
    }
    at = place + part.size();
  }
  return names;
}

std::vector<std::string_view> split_paths(std::string_view paths) {
  std::vector<std::string_view> parts;
  while (!paths.empty()) {
    const std::size_t end = paths.find(':');
    parts.push_back(paths.substr(0, end));
    paths = end == paths.npos ? std::string_view() : paths.substr(end + 1);
  }
  return parts;
}

}  // namespace

Bytes table_at(const Elf& elf, std::optional<std::uint64_t> address,
               std::optional<std::uint64_t> size, const char* what) {
  if (!address || !size || *size == 0) return Bytes();
  return elf.at_address(*address).part(0, *size, what);
}

DynamicTable read_dynamic_table(const Elf& elf) {
  DynamicTable table;
  const Bytes bytes = dynamic_bytes(elf);
  for (std::uint64_t at = 0; bytes.holds(at, 16); at += 16) {
    const std::uint64_t tag = bytes.u64(at);
    if (tag == 0) break;
    table.entries.emplace_back(tag, bytes.u64(at + 8));
  }
  if (const ElfSection* section = section_of_type(elf, dynamic_section)) {
    table.texts = linked_data(elf, *section);
  } else {
    table.texts = table_at(elf, table.value(dynamic_tag::texts),
                           table.value(dynamic_tag::texts_size), "dynamic texts");
  }
  return table;
}

SymbolTable dynamic_symbol_table(const Elf& elf, const DynamicTable& dynamic) {
  SymbolTable table;
  if (const ElfSection* section = section_of_type(elf, dynamic_symbol_section)) {
    table.entries = elf.data(*section);
    table.texts = linked_data(elf, *section);
    return table;
  }
  const std::optional<std::uint64_t> address = dynamic.value(dynamic_tag::symbols);
  if (!address) return table;
  const std::uint64_t count = dynamic_symbol_count(elf, dynamic, *address);
  const Bytes bytes = elf.at_address(*address);
  if (count > bytes.size() / symbol_size) {
    throw InputError(
        bytes.offset(), 0,
        std::to_string(count) + " dynamic symbols in " + std::to_string(bytes.size()) + " bytes");
  }
  table.entries = bytes.part(0, count * symbol_size, "dynamic symbols");
  table.texts = dynamic.texts;
  return table;
}

ElfSymbol SymbolTable::symbol(std::uint64_t index) const {
  const Bytes entry = entries.part(index * symbol_size, symbol_size, "a symbol");
  ElfSymbol symbol;
  symbol.offset = entry.offset();
  if (const std::uint32_t name = entry.u32(0); name != 0) symbol.name = texts.text(name);
  symbol.type = entry.u8(4) & 15;
  symbol.binding = entry.u8(4) >> 4;
  symbol.visibility = entry.u8(5) & 3;
  symbol.section = entry.u16(6);
  if (symbol.section == extended_section_index && indices.holds(index * 4, 4)) {
    symbol.section = indices.u32(index * 4);
  }
  symbol.value = entry.u64(8);
  symbol.size = entry.u64(16);
  return symbol;
}

ElfDynamic Elf::dynamic() const {
  ElfDynamic said;
  const DynamicTable table = read_dynamic_table(*this);
  Budget budget(file_, "texts of the dynamic section");
  const auto text = [&](std::uint64_t at) {
    return budget.take(table.texts.text(at), table.texts.offset());
  };
  for (const auto& [tag, value] : table.entries) {
    if (tag == dynamic_tag::needed) said.needed.push_back(text(value));
    if (tag == dynamic_tag::soname) said.soname = text(value);
    if (tag == dynamic_tag::rpath) said.rpath = split_paths(text(value));
    if (tag == dynamic_tag::run_path) said.run_path = split_paths(text(value));
  }
  const SymbolVersions versions = read_symbol_versions(*this, table);
  said.version_needs = versions.needs;
  said.version_definitions = versions.definitions;
  return said;
}

std::vector<ElfSymbol> Elf::dynamic_symbols() const {
  const DynamicTable dynamic = read_dynamic_table(*this);
  const SymbolTable table = dynamic_symbol_table(*this, dynamic);
  const SymbolVersions versions = read_symbol_versions(*this, dynamic);
  std::vector<ElfSymbol> symbols;
  symbols.reserve(table.count());
  Budget budget(file_, names_of_symbols);
  for (std::uint64_t i = 1; i < table.count(); ++i) {
    ElfSymbol symbol = table.symbol(i);
    budget.take(symbol.name, symbol.offset);
    const SymbolVersions::Version& version = versions.of_symbol(i);
    // The symbol that stands for a version has none itself; `readelf` sees it so, too.
    const bool is_version = symbol.section == absolute && symbol.name == version.name;
    if (!is_version) symbol.version = version.name;
    if (!symbol.is_defined()) symbol.version_library = version.library;
    symbol.default_version =
        symbol.version.empty() || !symbol.is_defined() || !versions.is_hidden(i);
    budget.take(symbol.version.size() + symbol.version_library.size(), symbol.offset);
    symbols.push_back(symbol);
  }
  return symbols;
}

std::vector<ElfSymbol> Elf::symbols() const {
  std::vector<ElfSymbol> symbols;
  const SymbolTable table = static_symbol_table(*this);
  symbols.reserve(table.count());
  Budget budget(file_, names_of_symbols);
  for (std::uint64_t i = 1; i < table.count(); ++i) {
    symbols.push_back(table.symbol(i));
    budget.take(symbols.back().name, symbols.back().offset);
  }
  return symbols;
}

std::vector<ElfSymbol> Elf::symbols_with(std::string_view part) const {
  std::vector<ElfSymbol> symbols;
  const SymbolTable table = static_symbol_table(*this);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> names =
      names_with(table.texts.view(), part);
  if (names.empty()) return symbols;
  Budget budget(file_, names_of_symbols);
  for (std::uint64_t i = 1; i < table.count(); ++i) {
    const std::uint64_t name = table.entries.u32(i * symbol_size);
    const auto after =
        std::upper_bound(names.begin(), names.end(), name,
                         [](std::uint64_t it, const auto& named) { return it < named.first; });
    if (after == names.begin() || name > std::prev(after)->second) continue;
    symbols.push_back(table.symbol(i));
    budget.take(symbols.back().name, symbols.back().offset);
  }
  return symbols;
}

}  // namespace opseal
