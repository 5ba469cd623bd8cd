// Libraries cut and with single bits flipped, through the whole program: what is left of one ends
// as facts and findings or as a problem inside the file. Every byte of those up to 16 KB; of larger
// ones every byte of headers and tables, and 2,000 other places.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/analyzers.h"
#include "analyzers/native/elf.h"
#include "rules/rules.h"
#include "tests/device_image_builder.h"
#include "tests/elf_libraries.h"
#include "tests/memory_input.h"

namespace opseal::test {
namespace {

constexpr std::size_t small_file = 16 * 1024;
constexpr std::size_t random_places = 2000;

void add_range(std::uint64_t first, std::uint64_t size, std::size_t end,
               std::set<std::size_t>& places) {
  for (std::uint64_t at = first; at < first + size && at < end; ++at) places.insert(at);
}

// Of an ELF file: its header, the tables of segments and sections, and whatever a linker wrote that
// is neither bytes of the program nor names.
void add_tables(const std::string& whole, std::set<std::size_t>& places) {
  constexpr std::uint32_t program_bits = 1, texts = 3, no_bits = 8;
  const Elf elf{Bytes(whole)};
  const Bytes& file = elf.file();
  add_range(0, 64, whole.size(), places);
  add_range(file.u64(32), elf.segments().size() * 56, whole.size(), places);
  add_range(file.u64(40), elf.sections().size() * 64, whole.size(), places);
  for (const ElfSection& section : elf.sections()) {
    if (section.type == program_bits || section.type == texts || section.type == no_bits) continue;
    add_range(section.offset, section.size, whole.size(), places);
  }
}

std::vector<std::size_t> places_to_damage(const std::string& whole) {
  std::set<std::size_t> places;
  if (whole.size() <= small_file) {
    add_range(0, whole.size(), whole.size(), places);
  } else {
    add_tables(whole, places);
    std::mt19937 random(1);
    const std::size_t wanted = places.size() + random_places;
    while (places.size() < std::min(wanted, whole.size())) places.insert(random() % whole.size());
  }
  return {places.begin(), places.end()};
}

// What must hold of any bytes; empty, or what doesn't.
std::string broken_promise(std::string_view bytes, const std::string& name) {
  InputFile input = memory_input(std::string(bytes), name);
  std::string error;
  const Analyzer* analyzer = find_analyzer(input, error);
  if (analyzer == nullptr) return "";
  const Facts facts = load_file(*analyzer, std::move(input));
  const auto inside = [&](const Location& where) {
    return !where.known() || (where.file == 0 && where.offset <= bytes.size());
  };
  for (const Problem& problem : facts.problems) {
    if (problem.message.empty()) return "a problem without a message";
    if (!inside(problem.where)) return "a problem outside the file: " + problem.message;
  }
  if (facts.documents.empty() && facts.problems.empty()) return "silence";
  std::vector<Finding> findings;
  run_rules(all_rules(), facts, 1, findings);
  for (const Finding& finding : findings) {
    if (finding.message.empty()) return "a finding without a message";
    if (!inside(finding.evidence.where)) return "a finding outside the file: " + finding.message;
  }
  return "";
}

void damage(const std::string& whole, const std::string& name) {
  REQUIRE(broken_promise(whole, name) == "");
  const std::vector<std::size_t> places = places_to_damage(whole);
  for (const std::size_t at : places) {
    std::string broken = broken_promise(std::string_view(whole).substr(0, at), name);
    if (!broken.empty()) FAIL_CHECK("cut at byte " << at << ": " << broken);
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at * 5 % 8)));
    broken = broken_promise(flipped, name);
    if (!broken.empty()) FAIL_CHECK("flip at byte " << at << ": " << broken);
  }
}

std::string device_code(BuiltEntry::Form form) {
  const std::string cubin = build_cubin({.kernels = {{.name = "_Z3addPf",
                                                      .registers = 24,
                                                      .shared_memory = 1424,
                                                      .parameters = {8, 24},
                                                      .body = {0x4037981, 0x502007986, 0x794d},
                                                      .max_threads = {128, 1, 1}}}});
  return build_container({{.image = cubin, .form = form},
                          {.kind = 1,
                           .image = ".version 9.0\n.target sm_90\n.visible .entry add(.param .u64 "
                                    "a)\n.maxntid 128\n{\nret;\n}\n",
                           .form = form}});
}

std::string archive_of(const std::string& object) {
  const std::string size = std::to_string(object.size());
  return "!<arch>\n" + std::string("x.o/            ") + std::string(32, ' ') + size +
         std::string(10 - size.size(), ' ') + "`\n" + object;
}

}  // namespace

TEST_CASE("library damage: exports, imports and versions") {
  damage(read_file(elf_library("symbols.so")), "libsymbols.so");
}

TEST_CASE("library damage: without section headers") {
  damage(without_sections(read_file(elf_library("symbols_sysv.so"))), "libsymbols.so");
}

TEST_CASE("library damage: marks of registries") {
  damage(read_file(elf_library("registrars_stripped.so")), "libregistrars.so");
}

TEST_CASE("library damage: handlers and the kernels that they reach") {
  damage(read_file(elf_library("handlers_O2.so")), "libhandlers.so");
}

TEST_CASE("library damage: device code") {
  using Form = BuiltEntry::Form;
  for (const Form form : {Form::plain, Form::zstd, Form::lz4}) {
    const std::string code = device_code(form);
    damage(build_elf(62, 3, {{.name = ".nv_fatbin", .bytes = code}}), "libx.so");
    damage(code, "x.fatbin");
  }
  damage(
      archive_of(build_elf(62, 1, {{.name = "__nv_relfatbin", .bytes = device_code(Form::zstd)}})),
      "libx.a");
}

}  // namespace opseal::test
