// Libraries and archives cut at every byte and with a bit of every byte flipped: each reader ends,
// with what it found or with an InputError inside the file.

#include <doctest/doctest.h>

#include <string>

#include "analyzers/native/archive_members.h"
#include "analyzers/native/elf.h"
#include "analyzers/native/registrars.h"
#include "tests/device_image_builder.h"
#include "tests/elf_libraries.h"

namespace opseal::test {
namespace {

// Empty, or what must not be.
template <typename Read>
std::string misbehaviour(const std::string& bytes, Read read) {
  try {
    read(Bytes(bytes));
  } catch (const InputError& error) {
    if (std::string(error.what()).empty()) return "an error without a message";
    if (error.offset > bytes.size()) return "an error outside the file";
  }
  return "";
}

void read_dynamic(const Bytes& file) { Elf{file}.dynamic(); }
void read_symbols(const Bytes& file) {
  const Elf elf{file};
  elf.build_id();
  elf.symbols();
  elf.dynamic_symbols();
}
void read_all_pointers(const Bytes& file) { read_pointers(Elf{file}); }
void read_functions(const Bytes& file) { function_ranges(Elf{file}); }
void read_sections(const Bytes& file) {
  const Elf elf{file};
  for (const ElfSection& section : elf.sections()) {
    std::string storage;
    elf.plain_data(section, storage);
  }
}
void read_registrars(const Bytes& file) {
  const Elf elf{file};
  find_registrars(elf, elf.dynamic_symbols());
}

void damage(const std::string& whole) {
  for (const auto& read : {read_dynamic, read_symbols, read_all_pointers, read_functions,
                           read_sections, read_registrars}) {
    CHECK_NOTHROW(read(Bytes(whole)));
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string broken = misbehaviour(whole.substr(0, at), read);
      if (!broken.empty()) FAIL_CHECK("cut at byte " << at << ": " << broken);
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at * 5 % 8)));
      broken = misbehaviour(flipped, read);
      if (!broken.empty()) FAIL_CHECK("flip at byte " << at << ": " << broken);
    }
  }
}

}  // namespace

TEST_CASE("elf damage: with section headers") { damage(read_file(elf_library("symbols.so"))); }

TEST_CASE("elf damage: without section headers") {
  damage(without_sections(read_file(elf_library("symbols_sysv.so"))));
}

TEST_CASE("elf damage: marks of registries") { damage(read_file(elf_library("registrars.so"))); }

TEST_CASE("elf damage: symbols whose names are ends of one long text") {
  constexpr std::uint32_t count = 4000;
  std::string texts = std::string(1, '\0') + std::string(1 << 16, 'a') + std::string(1, '\0');
  std::string symbols(24, '\0');
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string symbol;
    put<std::uint32_t>(symbol, 1 + i);
    put<std::uint32_t>(symbol, 0x10012);
    symbol.resize(24, '\0');
    symbols += symbol;
  }
  const std::string file = build_elf(62, 3,
                                     {{.name = ".dynsym", .type = 11, .bytes = symbols, .link = 2},
                                      {.name = ".dynstr", .type = 3, .bytes = texts}});
  const Elf elf{Bytes(file)};
  CHECK_THROWS_WITH_AS(elf.dynamic_symbols(), doctest::Contains("names of symbols of more than"),
                       InputError);
}

TEST_CASE("elf damage: a cut file says so") {
  const std::string whole = build_elf(62, 3, {{.name = ".data", .bytes = std::string(1000, 'x')}});
  const std::string cut = whole.substr(0, 500);
  CHECK_THROWS_WITH_AS(Elf{Bytes(cut)},
                       doctest::Contains(("the file is cut off: 500 of at least " +
                                          std::to_string(whole.size()) + " bytes")
                                             .c_str()),
                       InputError);
}

TEST_CASE("archive damage") {
  const std::string whole =
      "!<arch>\n"
      "//                                              30        `\n"
      "a_name_of_many_characters.o/\n\n"
      "/0              0           0     0     644     3         `\nabc\n"
      "#1/8            0           0     0     644     10        `\nbsd.o\0\0\0de";
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CHECK(misbehaviour(whole.substr(0, at), list_archive) == "");
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at * 5 % 8)));
    CHECK(misbehaviour(flipped, list_archive) == "");
  }
}

}  // namespace opseal::test
