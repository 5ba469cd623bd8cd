#include <doctest/doctest.h>

#include <string>

#include "analyzers/native/library.h"
#include "tests/device_image_builder.h"

namespace opseal::test {
namespace {

// Header of a member and its content, as `ar` writes them.
std::string member(std::string name, const std::string& content) {
  name.resize(16, ' ');
  std::string size = std::to_string(content.size());
  size.resize(10, ' ');
  std::string header = name + std::string(32, ' ') + size + "`\n" + content;
  if (content.size() % 2 != 0) header += '\n';
  return header;
}

Facts read(const std::string& bytes) {
  Facts facts;
  facts.files.emplace_back();
  FactWriter writer(facts);
  LibraryFile library;
  library.bytes = bytes;
  library.path = "libx";
  write_library(library, 1, writer, facts);
  return facts;
}

TEST_CASE("files of other systems are recognised") {
  for (const std::string magic :
       {"\xfe\xed\xfa\xcf", "\xfe\xed\xfa\xce", "\xca\xfe\xba\xbf", "\xcf\xfa\xed\xfe"}) {
    CHECK(library_kind(magic + std::string(8, '\0')) == LibraryKind::mach_o);
  }
  std::string program(4096, '\0');
  program.replace(0, 2, "MZ");
  CHECK(library_kind(program) == LibraryKind::none);
  // Beyond what is looked at.
  put_at<std::uint32_t>(program, 0x3c, 0x2000);
  CHECK(library_kind(program) == LibraryKind::pe);
  CHECK(library_kind("MZ" + std::string(4094, 'x')) == LibraryKind::none);
}

TEST_CASE("members that are not read are told, and what they hold is not said to be nothing") {
  const std::string bitcode = "BC\xc0\xde" + std::string(40, '\0');
  const std::string object = build_elf(62, 1, {{.name = ".data", .bytes = "x"}});
  const Facts none = read("!<arch>\n" + member("a.o/", bitcode));
  REQUIRE(none.problems.size() == 1);
  CHECK(none.problems[0].severity == Severity::error);
  CHECK(none.problems[0].message ==
        "holds 1 object of another format, or for Windows, macOS, 32-bit or big-endian systems, "
        "which opseal does not read: `a.o`");
  CHECK_FALSE(none.fact(0)[Key::exports].is_list());
  const Facts some = read("!<arch>\n" + member("a.o/", bitcode) + member("b.o/", object));
  REQUIRE(some.problems.size() == 1);
  CHECK(some.problems[0].severity == Severity::warning);
  CHECK_FALSE(some.fact(0)[Key::images].is_list());
  const Facts whole = read("!<arch>\n" + member("b.o/", object) + member("note/", "text"));
  CHECK(whole.problems.empty());
  CHECK(whole.fact(0)[Key::exports].is_list());
}

TEST_CASE("separate debug information says nothing of symbols and images") {
  const Facts debug = read(build_elf(62, 3, {{.name = ".dynsym", .type = 8, .size = 48}}));
  CHECK(debug.problems.empty());
  CHECK(debug.fact(0)[Key::machine].is("x86-64"));
  CHECK_FALSE(debug.fact(0)[Key::exports].is_list());
  CHECK_FALSE(debug.fact(0)[Key::images].is_list());
}

TEST_CASE("handlers of machines whose code is not read are not said") {
  const std::string type =
      std::string("\0N3xla3ffi7HandlerILNS0_14ExecutionStageE3EFvPvEJEEE\0", 53);
  constexpr std::uint16_t riscv = 243;
  CHECK_FALSE(read(build_elf(riscv, 3, {{.name = ".rodata", .bytes = type}}))
                  .fact(0)[Key::handlers]
                  .is_list());
  CHECK(read(build_elf(62, 3, {{.name = ".rodata", .bytes = type}}))
            .fact(0)[Key::handlers]
            .is_list());
}

}  // namespace
}  // namespace opseal::test
