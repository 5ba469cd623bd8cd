#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "analyzers/native/archive_members.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

// A member's header and content, padded to an even length.
std::string member(std::string name, std::string_view content, bool thin = false) {
  name.resize(16, ' ');
  std::string size = std::to_string(content.size());
  size.resize(10, ' ');
  std::string text = name + "0           0     0     644     " + size + "`\n";
  if (thin) return text;
  text += content;
  if (content.size() % 2 != 0) text += '\n';
  return text;
}

// `name:content; `
std::string shown(const std::string& archive) {
  std::string text;
  for (const ArchiveMember& each : list_archive(Bytes(archive)).members) {
    text += each.name + ":" + std::string(each.bytes.view()) + "; ";
  }
  return text;
}

std::string error_of(const std::string& archive) {
  try {
    list_archive(Bytes(archive));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

constexpr const char* magic = "!<arch>\n";

}  // namespace

TEST_CASE("archive: GNU names, long ones from their table, no index") {
  const std::string archive = magic + member("/", "index") + member("/SYM64/", "index") +
                              member("//", "first_of_the_long_names.o/\nsecond_long_name.o/\n") +
                              member("a.o/", "A") + member("/27", "BB") + member("/0", "CCC") +
                              member("with space.o/", "");
  CHECK(shown(archive) ==
        "a.o:A; second_long_name.o:BB; first_of_the_long_names.o:CCC; with space.o:; ");
  const ArchiveListing listing = list_archive(Bytes(archive));
  CHECK(!listing.thin);
  CHECK(archive.substr(listing.members[1].offset, 3) == "/27");
  CHECK(listing.members[1].bytes.offset() == listing.members[1].offset + 60);
}

TEST_CASE("archive: BSD names stand before the content") {
  const std::string archive =
      magic + member("#1/20", std::string("__.SYMDEF SORTED\0\0\0\0index", 25)) +
      member("#1/12", std::string("long_name.o\0content", 19)) + member("short.o", "s");
  CHECK(shown(archive) == "long_name.o:content; short.o:s; ");
}

TEST_CASE("archive: members of a thin one are files elsewhere") {
  const std::string archive = "!<thin>\n" + member("/", "index") + member("//", "folder/a.o/\n") +
                              member("/0", std::string(1000, 'x'), true) +
                              member("b.o/", "x", true);
  CHECK(list_archive(Bytes(archive)).thin);
  CHECK(shown(archive) == "folder/a.o:; b.o:; ");
}

TEST_CASE("archive: an empty one has no members") { CHECK(shown(magic).empty()); }

TEST_CASE("archive: damage is told") {
  CHECK(error_of("!<arch>x") == "no `ar` archive: it begins otherwise");
  CHECK(error_of(magic + member("a.o/", "A").substr(0, 60)) ==
        "an archive's member of 1 bytes at 68 goes beyond the end, which is at 68");
  CHECK(error_of(magic + member("/9", "A")) == "a name at 9 of a table of 0 bytes");
  CHECK(error_of(magic + member("/x", "A")) == "a member's name `/x`, expected `/` and a number");
  CHECK(error_of(magic + member("#1/9", "A")) ==
        "a member's name of 9 bytes at 68 goes beyond the end, which is at 69");
  std::string no_size = magic + member("a.o/", "A");
  no_size[8 + 48] = '-';
  CHECK(error_of(no_size) == "damaged header of an archive's member");
}

}  // namespace opseal::test
