// The ELF reader on libraries built here, and on bytes made by hand for what no linker here writes.

#include "analyzers/native/elf.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/elf_libraries.h"

namespace opseal::test {
namespace {

std::string word(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string section_header(std::uint64_t name, std::uint64_t type, std::uint64_t offset,
                           std::uint64_t size, std::uint64_t link) {
  return word(name, 4) + word(type, 4) + word(0, 8) + word(0, 8) + word(offset, 8) + word(size, 8) +
         word(link, 4) + word(0, 4) + word(1, 8) + word(0, 8);
}

// A header whose sections begin at 64.
std::string elf_header(std::uint64_t section_count, std::uint64_t names) {
  return std::string("\177ELF\2\1\1", 7) + std::string(9, '\0') + word(1, 2) + word(62, 2) +
         word(1, 4) + word(0, 8) + word(0, 8) + word(64, 8) + word(0, 4) + word(64, 2) +
         word(0, 2) + word(0, 2) + word(64, 2) + word(section_count, 2) + word(names, 2);
}

std::string type_of(const ElfSymbol& symbol) {
  switch (symbol.type) {
    case 1:
      return "object";
    case 2:
      return "function";
    case 6:
      return "tls";
    case 10:
      return "ifunc";
    default:
      return std::to_string(symbol.type);
  }
}

// Sorted: `add@@V_2 function; add@V_1 function; `, as linkers write default versions and others.
std::string shown(const std::vector<ElfSymbol>& symbols, bool exported) {
  std::vector<std::string> lines;
  for (const ElfSymbol& symbol : symbols) {
    if (exported ? !symbol.is_export() : symbol.is_defined()) continue;
    // Some linkers make a symbol for each version, and others don't.
    if (symbol.section == 0xfff1) continue;
    std::string line(symbol.name);
    const bool default_one = symbol.is_defined() && symbol.default_version;
    if (!symbol.version.empty()) line += (default_one ? "@@" : "@") + std::string(symbol.version);
    if (exported) line += " " + type_of(symbol);
    if (symbol.is_weak()) line += " weak";
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + "; ";
  return text;
}

std::string error_of(const std::string& bytes) {
  try {
    const Elf elf{Bytes(bytes)};
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

constexpr std::string_view exports =
    "add@@V_2 function; add@V_1 function; ask@@V_2 function; "
    "indirect_function@@V_2 ifunc; plain_object@@V_1 object; pointers@@V_2 object; "
    "protected_function@@V_1 function; say@@V_2 function; thread_object@@V_1 tls; "
    "weak_function@@V_1 function weak; ";

std::string joined(const std::vector<std::string_view>& texts) {
  std::string text;
  for (const std::string_view each : texts) text += std::string(each) + "; ";
  return text;
}

std::vector<std::string> symbol_libraries() {
  std::vector<std::string> names = {"symbols.so", "symbols_sysv.so", "symbols_debug.so"};
  if (std::filesystem::exists(elf_library("symbols_packed.so")))
    names.push_back("symbols_packed.so");
  return names;
}

}  // namespace

TEST_CASE("elf: exports and imports have kinds and versions, with section headers and without") {
  for (const std::string& name : symbol_libraries()) {
    INFO(name);
    const std::string whole = read_file(elf_library(name));
    const std::string cut = without_sections(whole);
    const Elf elf{Bytes(whole)};
    const Elf without{Bytes(cut)};
    CHECK(!elf.sections().empty());
    REQUIRE(without.sections().empty());
    CHECK(shown(elf.dynamic_symbols(), true) == exports);
    CHECK(shown(without.dynamic_symbols(), true) == exports);
    CHECK(shown(without.dynamic_symbols(), false) == shown(elf.dynamic_symbols(), false));
    bool from_libc = false;
    for (const ElfSymbol& symbol : without.dynamic_symbols()) {
      if (symbol.name == "nowhere_defined") {
        CHECK((symbol.is_weak() && symbol.version.empty() && symbol.version_library.empty()));
      }
      if (symbol.name != "puts") continue;
      from_libc = true;
      CHECK(symbol.version.starts_with("GLIBC_"));
      CHECK(symbol.version_library == "libc.so.6");
      CHECK(whole.substr(symbol.offset + 8, 8) == std::string(8, '\0'));
    }
    CHECK(from_libc);
  }
}

TEST_CASE("elf: what the dynamic section and the notes say, with section headers and without") {
  for (const std::string& name : symbol_libraries()) {
    INFO(name);
    const std::string whole = read_file(elf_library(name));
    const std::string cut = without_sections(whole);
    for (const std::string* bytes : {&whole, &cut}) {
      const Elf elf{Bytes(*bytes)};
      const ElfDynamic dynamic = elf.dynamic();
      CHECK(dynamic.soname == "libsymbols.so.1");
      CHECK(std::count(dynamic.needed.begin(), dynamic.needed.end(), "libc.so.6") == 1);
      const bool old = name == "symbols_sysv.so";
      CHECK(joined(old ? dynamic.rpath : dynamic.run_path) == "$ORIGIN/lib; /opt/lib; ");
      CHECK((old ? dynamic.run_path : dynamic.rpath).empty());
      CHECK(joined(dynamic.version_definitions) == "V_1; V_2; ");
      bool asks_libc = false;
      for (const auto& [library, versions] : dynamic.version_needs) {
        asks_libc = asks_libc || (library == "libc.so.6" && !versions.empty());
      }
      CHECK(asks_libc);
      CHECK(elf.build_id() == "0123456789abcdef");
      CHECK(elf.type() == 3);
      CHECK(!elf.has_interpreter());
    }
  }
}

TEST_CASE("elf: pointers lead to functions, to texts and to what others provide") {
  for (const std::string& name : symbol_libraries()) {
    INFO(name);
    const std::string whole = read_file(elf_library(name));
    const std::string cut = without_sections(whole);
    for (const std::string* bytes : {&whole, &cut}) {
      const Elf elf{Bytes(*bytes)};
      const std::vector<ElfSymbol> symbols = elf.dynamic_symbols();
      const auto table = std::find_if(symbols.begin(), symbols.end(), [](const ElfSymbol& symbol) {
        return symbol.name == "pointers";
      });
      REQUIRE(table != symbols.end());
      CHECK(table->size == 24);
      std::vector<ElfPointer> of_table;
      std::uint64_t last = 0;
      for (const ElfPointer& pointer : read_pointers(elf)) {
        CHECK(pointer.address >= last);
        last = pointer.address;
        if (pointer.address - table->value < table->size) of_table.push_back(pointer);
      }
      REQUIRE(of_table.size() == 3);
      CHECK((elf.is_code(of_table[0].target) && of_table[0].symbol.empty()));
      CHECK(elf.at_address(of_table[1].target).text(0) == "a text");
      CHECK(!elf.is_code(of_table[1].target));
      CHECK((of_table[2].target == 0 && of_table[2].symbol == "puts"));
    }
  }
}

TEST_CASE("elf: the unwind table gives the functions of a stripped file") {
  const std::string whole = read_file(elf_library("symbols.so"));
  const std::string cut = without_sections(whole);
  for (const std::string* bytes : {&whole, &cut}) {
    const Elf elf{Bytes(*bytes)};
    const auto ranges = function_ranges(elf);
    REQUIRE(!ranges.empty());
    int found = 0;
    for (const ElfSymbol& symbol : elf.dynamic_symbols()) {
      if (!symbol.is_defined() || !symbol.is_function()) continue;
      const auto range = std::find_if(ranges.begin(), ranges.end(),
                                      [&](const auto& each) { return each.first == symbol.value; });
      REQUIRE(range != ranges.end());
      CHECK(range->second >= symbol.value + symbol.size);
      ++found;
    }
    CHECK(found == 7);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      CHECK((ranges[i].first < ranges[i].second && elf.is_code(ranges[i].first)));
      if (i > 0) CHECK(ranges[i - 1].second <= ranges[i].first);
    }
  }
}

TEST_CASE("elf: the symbol table has local functions, and a stripped file has none") {
  const std::string debug = read_file(elf_library("symbols_debug.so"));
  const Elf elf{Bytes(debug)};
  const auto named = [](const std::vector<ElfSymbol>& symbols, std::string_view name) {
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const ElfSymbol& symbol) { return symbol.name == name; });
  };
  CHECK(named(elf.symbols(), "hidden_function"));
  CHECK(!named(elf.dynamic_symbols(), "hidden_function"));
  std::string with;
  for (const ElfSymbol& symbol : elf.symbols_with("den_fun")) with += std::string(symbol.name);
  CHECK(with == "hidden_function");
  CHECK(elf.symbols_with("no such name").empty());
  const std::string stripped = read_file(elf_library("symbols.so"));
  CHECK(Elf{Bytes(stripped)}.symbols().empty());
}

TEST_CASE("elf: compressed sections hold the same bytes") {
  const std::string plain = read_file(elf_library("symbols_debug.so"));
  const Elf plain_elf{Bytes(plain)};
  const ElfSection* const plain_section = plain_elf.section(".debug_str");
  REQUIRE(plain_section != nullptr);
  std::string none;
  const std::string_view expected = plain_elf.plain_data(*plain_section, none).view();
  CHECK(none.empty());
  for (const std::string name : {"symbols_zlib.so", "symbols_zstd.so"}) {
    if (!std::filesystem::exists(elf_library(name))) continue;
    INFO(name);
    std::string bytes = read_file(elf_library(name));
    const Elf elf{Bytes(bytes)};
    const ElfSection* const section = elf.section(".debug_str");
    REQUIRE(section != nullptr);
    REQUIRE(section->is_compressed());
    std::string storage;
    CHECK(elf.plain_data(*section, storage).view() == expected);
    CHECK_THROWS_AS(elf.plain_data(*section, storage, expected.size() - 1), InputError);
    // A size that the stream doesn't have, and one that memory doesn't.
    bytes.replace(section->offset + 8, 8, word(expected.size() + 1, 8));
    CHECK_THROWS_AS(elf.plain_data(*section, storage), InputError);
    bytes.replace(section->offset + 8, 8, word(std::uint64_t{1} << 29, 8));
    CHECK_THROWS_AS(elf.plain_data(*section, storage), InputError);
    CHECK(storage.capacity() < std::size_t{8} << 20);
    bytes.replace(section->offset, 4, word(7, 4));
    CHECK_THROWS_AS(elf.plain_data(*section, storage), InputError);
  }
}

TEST_CASE("elf: more sections than the header can count") {
  constexpr std::uint64_t count = 0x10002;
  std::string headers =
      std::string(32, 0) + word(count, 8) + word(count - 1, 4) + std::string(20, 0);
  const std::uint64_t names_at = 64 + count * 64;
  for (std::uint64_t i = 1; i + 1 < count; ++i) headers += section_header(1, 1, 0, 64, 0);
  headers += section_header(7, 3, names_at, 14, 0);
  const std::string bytes = elf_header(0, 0xffff) + headers + std::string("\0.text\0.names\0", 14);
  const Elf elf{Bytes(bytes)};
  REQUIRE(elf.sections().size() == count);
  CHECK(elf.sections()[count - 2].name == ".text");
  CHECK(elf.section(".names") == &elf.sections()[count - 1]);
  CHECK(error_of(bytes.substr(0, bytes.size() - 1)) != "");
}

TEST_CASE("elf: files that are not read say why") {
  const std::string good = read_file(elf_library("symbols.so"));
  const auto with = [&](std::size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return error_of(bytes);
  };
  CHECK(with(4, 1) == "32-bit ELF is not read");
  CHECK(with(5, 2) == "big-endian ELF is not read");
  CHECK(with(4, 3) == "ELF class 3, expected 2 (64-bit)");
  CHECK(with(0, 'x') == "no ELF file: it begins otherwise");
  CHECK(error_of(good.substr(0, 40)) == "an ELF header of 40 bytes, expected 64");
  CHECK(with(58, 63) == "section headers of 63 bytes, expected 64");
}

}  // namespace opseal::test
