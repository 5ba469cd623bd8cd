// Archives that are cut, altered or made to hurt.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/analyzers.h"
#include "analyzers/input_error.h"
#include "analyzers/package/archive_reader.h"
#include "tests/archive_maker.h"
#include "tests/memory_input.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

struct Outcome {
  bool recognised = false;
  bool problem = false;
  // Paths of the libraries.
  std::string libraries;
};

Outcome outcome_of(const std::string& bytes) {
  InputFile input = memory_input(bytes, "pkg-1.0-py3-none-any.whl");
  std::string error;
  Outcome outcome;
  const Analyzer* analyzer = find_analyzer(input, error);
  if (analyzer == nullptr) return outcome;
  outcome.recognised = true;
  const Facts facts = load_file(*analyzer, std::move(input));
  for (const Problem& problem : facts.problems) {
    outcome.problem = outcome.problem || problem.severity == Severity::error;
  }
  for (const Document& document : facts.documents) {
    for (const Fact library : facts.root(document)[Key::libraries].items()) {
      outcome.libraries += std::string(library[Key::path].text()) + '\n';
    }
  }
  return outcome;
}

std::vector<Member> small_members() {
  return {{.path = "pkg/__init__.py", .bytes = "from . import _x\n"},
          {.path = "pkg/_x.so", .bytes = ptx_module("x")},
          {.path = "pkg/liby.so.1", .bytes = ptx_module("y")},
          {.path = "pkg/liby.so", .symbolic_link = "liby.so.1"},
          {.path = "pkg-1.0.dist-info/WHEEL", .bytes = "Tag: py3-none-any\n"},
          {.path = "pkg-1.0.dist-info/RECORD", .bytes = "pkg/_x.so,sha256=AAAA,1\n"}};
}

struct SmallArchive {
  std::string name;
  std::string bytes;
};

// One of each shape.
std::vector<SmallArchive> small_archives() {
  std::vector<SmallArchive> archives;
  archives.push_back({"zip", make_archive(small_members(), "zip")});
  for (const char* compression : {"none", "gzip", "bzip2", "xz", "zstd", "lz4"}) {
    archives.push_back({compression, make_archive(small_members(), "tar", compression)});
  }
  const std::string tar = make_archive(small_members(), "tar", "zstd");
  archives.push_back({"conda", make_archive({{.path = "metadata.json", .bytes = "{}"},
                                             {.path = "pkg-pkg-1.tar.zst", .bytes = tar}},
                                            "zip", "none", "zip:compression=store")});
  archives.push_back({"debian", make_archive({{.path = "debian-binary", .bytes = "2.0\n"},
                                              {.path = "data.tar.zst", .bytes = tar}},
                                             "ar")});
  return archives;
}

// What an archive is refused for, or empty.
std::string refusal(const std::string& bytes, ArchiveShape shape, const ArchiveLimits& limits) {
  ByteSource source = ByteSource::memory(bytes);
  try {
    ArchiveReader archive(source, shape, limits);
    std::vector<char> buffer(4096);
    for (ArchiveEntry entry; archive.next(entry);) {
      while (archive.read(buffer.data(), buffer.size()) > 0) {
      }
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a package that is cut anywhere never states a part of its libraries") {
  for (const SmallArchive& archive : small_archives()) {
    const std::string& bytes = archive.bytes;
    INFO(archive.name);
    const Outcome whole = outcome_of(bytes);
    REQUIRE(!whole.problem);
    REQUIRE(whole.libraries == "pkg/_x.so\npkg/liby.so.1\n");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      // All of an archive of object files without any, which another reader takes.
      if (bytes.substr(0, size) == "!<arch>\n") continue;
      const Outcome cut = outcome_of(bytes.substr(0, size));
      INFO("cut at " << size << " of " << bytes.size());
      CHECK((cut.libraries.empty() || cut.libraries == whole.libraries));
      CHECK((!cut.recognised || cut.problem || cut.libraries == whole.libraries));
    }
  }
}

TEST_CASE("a package with any byte altered is read or refused") {
  for (const SmallArchive& archive : small_archives()) {
    const std::string& bytes = archive.bytes;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      // Most of an uncompressed tar archive is padding between members.
      if (bytes[at] == '\0' && at % 7 != 0) continue;
      for (const int change : {0x01, 0xff}) {
        std::string altered = bytes;
        altered[at] = static_cast<char>(altered[at] ^ change);
        const Outcome outcome = outcome_of(altered);
        INFO(archive.name << ", byte " << at);
        CHECK((outcome.recognised || !outcome.problem));
      }
    }
  }
}

TEST_CASE("an archive that unpacks to more than its limits is refused before it did") {
  const std::string zeros(std::size_t{1} << 20, '\0');
  const std::vector<Member> members = {{.path = "a.so", .bytes = zeros},
                                       {.path = "b.so", .bytes = zeros}};
  struct Shape {
    ArchiveShape shape;
    std::string bytes;
  };
  const Shape shapes[] = {{ArchiveShape::zip, make_archive(members, "zip")},
                          {ArchiveShape::tar, make_archive(members, "tar", "gzip")},
                          {ArchiveShape::tar, make_archive(members, "tar", "zstd")}};
  for (const auto& [shape, bytes] : shapes) {
    CHECK(refusal(bytes, shape, {}) == "");
    CHECK(refusal(bytes, shape, {.members = 1}) == "holds more than 1 member");
    CHECK(refusal(bytes, shape, {.member_size = 1000000}) ==
          "a member unpacks to more than 1000000 bytes");
    CHECK(refusal(bytes, shape, {.total_size = 1500000}) == "unpacks to more than 1500000 bytes");
    CHECK(refusal(bytes, shape, {.ratio = 100, .always_allowed = 1500000})
              .starts_with("unpacks to more than 100 times its own "));
    CHECK(refusal(bytes, shape, {.ratio = 100, .always_allowed = 3000000}) == "");
  }
}

TEST_CASE("what is passed over in a compressed archive counts to its limits") {
  const std::string bytes =
      make_archive({{.path = "a", .bytes = std::string(std::size_t{1} << 20, '\0')},
                    {.path = "b", .bytes = "x"}},
                   "tar", "gzip");
  ByteSource source = ByteSource::memory(bytes);
  ArchiveReader archive(source, ArchiveShape::tar, {.total_size = 1000});
  ArchiveEntry entry;
  REQUIRE(archive.next(entry));
  CHECK_THROWS_AS(archive.next(entry), InputError);
}

TEST_CASE("names and headers count to the limits") {
  std::vector<Member> members;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    members.push_back({.path = std::string(100000, letter), .bytes = ""});
  }
  const std::string bytes = make_archive(members, "tar", "gzip");
  CHECK(refusal(bytes, ArchiveShape::tar, {}) == "");
  CHECK(refusal(bytes, ArchiveShape::tar, {.names = 1000000}) ==
        "holds names of more than 1000000 bytes");
  CHECK(refusal(bytes, ArchiveShape::tar, {.total_size = 1000000}) ==
        "unpacks to more than 1000000 bytes");
}

TEST_CASE("a package with an encrypted member is refused") {
  const std::string bytes = make_archive({{.path = "libx.so", .bytes = ptx_module("x")}}, "zip",
                                         "none", "zip:encryption=traditional", "secret");
  const Outcome outcome = outcome_of(bytes);
  CHECK(outcome.recognised);
  CHECK(outcome.problem);
  CHECK(outcome.libraries == "");
}

TEST_CASE("a header that states another size than the member has is refused") {
  std::string bytes = make_archive({{.path = "libx.so", .bytes = ptx_module("x")}}, "tar");
  // The size field of the header says eight gigabytes, and its sum of bytes is made to fit.
  REQUIRE(bytes.size() > 512);
  for (std::size_t header = 0; header + 512 <= bytes.size(); header += 512) {
    if (bytes.substr(header, 7) != "libx.so") continue;
    bytes.replace(header + 124, 12, std::string("77777777777\0", 12));
    bytes.replace(header + 148, 8, "        ");
    unsigned sum = 0;
    for (std::size_t at = header; at < header + 512; ++at) {
      sum += static_cast<unsigned char>(bytes[at]);
    }
    std::string digits;
    for (int shift = 15; shift >= 0; shift -= 3) {
      digits += static_cast<char>('0' + (sum >> shift & 7));
    }
    bytes.replace(header + 148, 8, digits + std::string("\0 ", 2));
  }
  const Outcome outcome = outcome_of(bytes);
  CHECK(outcome.recognised);
  CHECK(outcome.problem);
  CHECK(outcome.libraries == "");
}

}  // namespace opseal::test
