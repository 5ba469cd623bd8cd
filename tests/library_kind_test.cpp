#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "analyzers/native/library.h"
#include "cli/discover.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

std::string elf_head(char bits, char order) {
  return std::string("\177ELF") + bits + order + '\1' + std::string(57, '\0');
}

std::string windows_head() {
  std::string text = "MZ" + std::string(62, '\0');
  text[0x3c] = 64;
  return text + std::string("PE\0\0", 4);
}

std::string archive_of(std::string_view content, std::size_t index_size = 3) {
  const auto member = [](std::string name, std::string_view bytes) {
    name.resize(48, ' ');
    std::string size = std::to_string(bytes.size());
    size.resize(10, ' ');
    return name + size + "`\n" + std::string(bytes) + (bytes.size() % 2 != 0 ? "\n" : "");
  };
  return "!<arch>\n" + member("/", std::string(index_size, 'i')) + member("//", "long_name.o/\n") +
         member("/0", content);
}

}  // namespace

TEST_CASE("libraries for systems that are not read are told by their first bytes") {
  CHECK(is_foreign(elf_head(1, 1)));
  CHECK(is_foreign(elf_head(2, 2)));
  CHECK(is_foreign(windows_head()));
  CHECK(is_foreign(std::string_view("\xcf\xfa\xed\xfe\x07\0\0\1", 8)));
  CHECK(is_foreign(archive_of(elf_head(1, 1))));
  CHECK(is_foreign(archive_of(std::string("\0\0\xff\xff", 4) + std::string(60, '\0'))));
  CHECK_FALSE(is_foreign(archive_of("BC\xc0\xde" + std::string(60, '\0'))));
  CHECK_FALSE(is_foreign(elf_head(2, 1)));
  CHECK_FALSE(is_foreign(archive_of(elf_head(2, 1))));
  CHECK_FALSE(is_foreign("MZ"));
  CHECK_FALSE(is_foreign("!<arch>\n"));
  // Archives in archives are nothing that a linker reads, however deep.
  CHECK_FALSE(is_foreign(archive_of(archive_of(elf_head(1, 1)))));
}

TEST_CASE("the index of an archive may end behind the bytes that are seen") {
  const std::string archive = archive_of(elf_head(1, 1), 100'000);
  CHECK(is_foreign(archive));
  for (const std::size_t seen : {std::size_t{8}, std::size_t{60}, std::size_t{68}, std::size_t{100},
                                 std::size_t{65536}, archive.size() - 64}) {
    INFO(seen << " bytes");
    CHECK(tells_foreign(std::string_view(archive).substr(0, seen)) == Accepts::look_further);
  }
}

TEST_CASE(
    "what a directory holds for other systems is told once and keeps nothing from being read") {
  Tree tree;
  tree.add("env/pip/t32.exe", windows_head());
  tree.add("env/pip/t64.exe", windows_head());
  tree.add("env/solver/i32/cbc", elf_head(1, 1));
  tree.add("env/lib/libsolver.a", archive_of(elf_head(1, 1), 100'000));
  tree.add("env/a.json", R"({"opseal_manifest": 1})");
  Options options;
  options.paths = {"env"};
  const Discovered walked = discover(options, {});
  REQUIRE(walked.inputs.size() == 1);
  CHECK(walked.inputs[0].file.path == "env/a.json");
  CHECK(walked.other_files == 4);
  CHECK(walked.problems.empty());
  REQUIRE(walked.remarks.size() == 1);
  CHECK(walked.remarks[0].ends_with(
      " and 3 other libraries are for Windows, macOS, 32-bit or big-endian systems, which opseal "
      "does not read"));

  // Who names the file wants to know what is in it.
  options.paths = {"env/pip/t32.exe"};
  const Discovered given = discover(options, {});
  REQUIRE(given.inputs.size() == 1);
  const Facts facts = load_file(*given.inputs[0].analyzer, given.inputs[0].file);
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].severity == Severity::error);
}

TEST_CASE("an archive for another machine is one problem, however many members it has") {
  std::string archive = archive_of(elf_head(1, 1));
  archive += archive.substr(archive.size() - 124);
  Facts facts;
  facts.files.emplace_back();
  load_library(archive, 0, 1, facts);
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].message.starts_with("holds 2 objects of another format"));
}

}  // namespace opseal::test
