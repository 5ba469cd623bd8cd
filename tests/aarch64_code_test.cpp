// Code for AArch64, as words that were assembled by hand from Arm's manual.

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "analyzers/native/host_links.h"

using namespace opseal;

namespace {

constexpr std::uint64_t load_address = 0x10000;
constexpr std::uint64_t code_offset = 64 + 56;

// An ELF file for AArch64 of nothing but code, without section headers.
class CodeFile {
 public:
  explicit CodeFile(std::initializer_list<std::uint32_t> words) {
    bytes_ = std::string(
                 "\x7f"
                 "ELF\x02\x01\x01",
                 7) +
             std::string(9, '\0');
    number(3, 2);    // e_type: shared
    number(183, 2);  // e_machine
    number(1, 4);    // e_version
    number(0, 8);    // e_entry
    number(64, 8);   // e_phoff
    number(0, 8);    // e_shoff
    number(0, 4);    // e_flags
    number(64, 2);   // e_ehsize
    number(56, 2);   // e_phentsize
    number(1, 2);    // e_phnum
    number(64, 2);   // e_shentsize
    number(0, 2);    // e_shnum
    number(0, 2);    // e_shstrndx
    const std::uint64_t size = code_offset + words.size() * 4;
    number(1, 4);  // p_type: load
    number(5, 4);  // p_flags: readable code
    number(0, 8);  // p_offset
    number(load_address, 8);
    number(load_address, 8);
    number(size, 8);
    number(size, 8);
    number(0x1000, 8);
    for (const std::uint32_t word : words) number(word, 4);
  }

  std::vector<CodeReference> references_to(std::vector<std::uint64_t> targets) const {
    const Elf elf{Bytes(bytes_)};
    return HostCode(elf).references_to(targets);
  }

 private:
  void number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  std::string bytes_;
};

constexpr std::uint32_t nop = 0xD503201F;
// adrp x0, the second page behind: 0x12000. Bits 29 and 30 are the lowest of the number of pages.
constexpr std::uint32_t page_to_x0 = 0xD0000000;
constexpr std::uint32_t add_x1_x0_0x34 = 0x9100D001;
constexpr std::uint32_t call_next = 0x94000001;
constexpr std::uint32_t mov_x0_x2 = 0xAA0203E0;
constexpr std::uint32_t store_x0 = 0xF90003E0;
constexpr std::uint32_t adr_x3_back_8 = 0x10FFFFC3;

}  // namespace

TEST_CASE("an address is made of its page and the rest") {
  const CodeFile file{nop, page_to_x0, nop, store_x0, add_x1_x0_0x34};
  const std::vector<CodeReference> found = file.references_to({0x12034});
  REQUIRE(found.size() == 1);
  CHECK(found[0].from == load_address + code_offset + 16);
  CHECK(found[0].to == 0x12034);
  CHECK(found[0].to_register == 1);
  CHECK(file.references_to({0x12030}).empty());
}

TEST_CASE("an address near by takes one instruction") {
  const std::vector<CodeReference> found =
      CodeFile{nop, nop, adr_x3_back_8}.references_to({load_address + code_offset});
  REQUIRE(found.size() == 1);
  CHECK(found[0].to_register == 3);
}

TEST_CASE("a page is gone where its register was written, or a function was called") {
  CHECK(CodeFile{page_to_x0, mov_x0_x2, add_x1_x0_0x34}.references_to({0x12034}).empty());
  CHECK(CodeFile{page_to_x0, call_next, add_x1_x0_0x34}.references_to({0x12034}).empty());
}
