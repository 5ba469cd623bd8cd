// Packages made to hurt: members that share their bytes, members within members, and far more bytes
// than the file has. Reading one takes processor time and memory within the limits of packages.

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/archive_maker.h"
#include "tests/bounded.h"
#include "tests/device_image_builder.h"

namespace opseal::test {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
const std::string wheel = "pkg-1.0-py3-none-any.whl";

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(::deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

// A zip archive with one member in it, which its table lists `count` times under names of its own.
std::string overlapping_zip(const std::string& bytes, std::size_t count) {
  const std::string packed = deflated(bytes);
  const auto sum = static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
  const auto add_header = [&](std::string& to, const std::string& name) {
    put<std::uint16_t>(to, 20);
    put<std::uint16_t>(to, 0);
    put<std::uint16_t>(to, 8);
    put<std::uint32_t>(to, 0);
    put<std::uint32_t>(to, sum);
    put(to, static_cast<std::uint32_t>(packed.size()));
    put(to, static_cast<std::uint32_t>(bytes.size()));
    put(to, static_cast<std::uint16_t>(name.size()));
    put<std::uint16_t>(to, 0);
  };
  std::string file = "PK\3\4";
  add_header(file, "a.so");
  file += "a.so" + packed;
  const std::size_t table = file.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "lib" + std::to_string(i) + ".so";
    file += "PK\1\2";
    put<std::uint16_t>(file, 20);
    add_header(file, name);
    put<std::uint16_t>(file, 0);
    put<std::uint16_t>(file, 0);
    put<std::uint16_t>(file, 0);
    put<std::uint32_t>(file, 0);
    put<std::uint32_t>(file, 0);
    file += name;
  }
  const std::size_t size = file.size() - table;
  file += "PK\5\6";
  put<std::uint32_t>(file, 0);
  put(file, static_cast<std::uint16_t>(count));
  put(file, static_cast<std::uint16_t>(count));
  put(file, static_cast<std::uint32_t>(size));
  put(file, static_cast<std::uint32_t>(table));
  put<std::uint16_t>(file, 0);
  return file;
}

// A library whose last section is so many zeros.
std::string zeros_library(std::uint64_t zeros) {
  return build_elf(62, 3, {{.name = ".rodata", .bytes = std::string(zeros, '\0')}});
}

}  // namespace

TEST_CASE("hostile package: members of a zip that share their bytes") {
  // 60,000 times a megabyte, in a file of three.
  const std::string file = overlapping_zip(zeros_library(mebibyte), 60000);
  // To libarchive members at one place are one.
  CHECK(read_within(file, wheel, 128 * mebibyte) == "0 problems, 1 library\n");
}

TEST_CASE("hostile package: a member that is a thousand times its packed size") {
  const std::string library = zeros_library(192 * mebibyte);
  const std::string file = make_archive({{.path = "pkg/_x.so", .bytes = library}}, "zip");
  CHECK(file.size() < mebibyte);
  // It is read whole, and nothing else is kept that is as large.
  const std::string outcome = read_within(file, wheel, 256 * mebibyte);
  CHECK(outcome == "0 problems, 1 library\n");
}

TEST_CASE("hostile package: archives within archives") {
  std::string inner = make_archive({{.path = "libx.so", .bytes = ptx_module("x")}}, "zip");
  std::string tar = make_archive({{.path = "libx.so", .bytes = ptx_module("x")}}, "tar", "zstd");
  for (int depth = 0; depth < 200; ++depth) {
    inner =
        make_archive({{.path = "pkg.whl", .bytes = inner}}, "zip", "none", "zip:compression=store");
    // The parts of a conda package, in which the same parts lie.
    tar = make_archive({{.path = "pkg-p-1.tar.zst", .bytes = tar}}, "zip", "none",
                       "zip:compression=store");
  }
  // No library is looked for further in than in a part of a package.
  CHECK(read_within(inner, wheel, 64 * mebibyte) == "no input\n");
  CHECK(read_within(tar, "p-1.conda", 64 * mebibyte).starts_with("can't be read as an archive"));
}

TEST_CASE("hostile package: paths of thousands of folders, and links in circles") {
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "d/";
  std::vector<Member> members = {{.path = deep + "libx.so", .bytes = ptx_module("x")},
                                 {.path = "pkg/__init__.py", .bytes = "import _x\n"}};
  for (int i = 0; i < 1000; ++i) {
    members.push_back({.path = "l" + std::to_string(i) + ".so",
                       .symbolic_link = "l" + std::to_string((i + 1) % 1000) + ".so"});
    if (i >= 300) continue;
    members.push_back({.path = deep + std::to_string(i) + ".so", .symbolic_link = "../x.so"});
  }
  const std::string file = make_archive(members, "tar", "gzip");
  CHECK(read_within(file, "pkg-1.0.tar.gz", 256 * mebibyte) == "0 problems, 1 library\n");
}

TEST_CASE("hostile package: one library under thousands of names, each named by a file") {
  std::vector<Member> members = {{.path = "pkg/_x.so", .bytes = ptx_module("x")}};
  std::string mentions;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "_x" + std::to_string(i) + ".so";
    members.push_back({.path = "pkg/" + name, .bytes = ptx_module("x")});
    mentions += "from . import _x" + std::to_string(i) + "\nload('" + name + "')\n";
  }
  for (int i = 0; i < 50; ++i) {
    members.push_back({.path = "pkg/m" + std::to_string(i) + ".py", .bytes = mentions});
  }
  const std::string outcome = read_within(make_archive(members, "zip"), wheel, 256 * mebibyte);
  CHECK(outcome == "0 problems, 1 library\n");
}

}  // namespace opseal::test
