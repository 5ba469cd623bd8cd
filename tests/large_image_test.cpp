// Machine code images of which only the ends are kept while they are read.

#include "analyzers/native/large_image.h"

#include <doctest/doctest.h>

#include <random>

#include "analyzers/native/cubin.h"
#include "analyzers/native/device_images.h"
#include "tests/device_image_builder.h"

namespace opseal::test {
namespace {

using Form = BuiltEntry::Form;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::uint64_t number_at(const std::string& file, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes; i > 0; --i) {
    number = number << 8 | static_cast<unsigned char>(file[at + i - 1]);
  }
  return number;
}

// Bytes that don't compress as well as nothing does.
std::string filler(std::size_t size) {
  std::string bytes(size, '\x86');
  std::mt19937 random(1);
  for (std::size_t at = 0; at < size; at += 128) bytes[at] = static_cast<char>(random());
  return bytes;
}

// The same image with `what` behind so many bytes, and its table of sections at the end: what is
// code, what is not, or only the names of the sections, as a table of a type that says nothing.
enum class Moved : std::uint8_t { code, tables, names };
std::string stretched(const std::string& cubin, Moved what, std::size_t size, std::size_t odd = 0) {
  constexpr std::uint64_t executable = 4;
  const std::size_t table = number_at(cubin, 40, 8);
  std::string headers = cubin.substr(table);
  std::string file = cubin.substr(0, table);
  file += filler(size - file.size());
  for (std::size_t at = 64; at < headers.size(); at += 64) {
    const bool is_code = (number_at(headers, at + 8, 8) & executable) != 0;
    if (what == Moved::names) {
      if (at / 64 != number_at(cubin, 62, 2)) continue;
      put_at<std::uint32_t>(headers, at + 4, 1);
    } else if (is_code != (what == Moved::code)) {
      continue;
    }
    file.resize((file.size() + 15) / 16 * 16 + odd);
    const std::size_t offset = number_at(headers, at + 24, 8);
    put_at(headers, at + 24, static_cast<std::uint64_t>(file.size()));
    // Of a section without bytes, too.
    if (number_at(headers, at + 4, 4) == 8) continue;
    file += cubin.substr(offset, number_at(headers, at + 32, 8));
  }
  file += filler(20 * mebibyte);
  put_at(file, 40, static_cast<std::uint64_t>(file.size()));
  return file + headers;
}

std::string cubin() {
  constexpr std::uint64_t load = 0x981, store = 0x986, exit = 0x94d, branch = 0x947, trap = 0x95c;
  const std::vector<std::uint64_t> nothing(100, load);
  std::vector<std::uint64_t> much = nothing;
  much[50] = store;
  return build_cubin({.kernels = {{.name = "stores", .parameters = {8, 24}, .body = much},
                                  {.name = "stores_not", .registers = 30, .body = nothing},
                                  {.name = "traps", .body = {load, trap, exit, branch}},
                                  {.name = "hollow", .body = {exit, branch}}}});
}

std::string show(const DeviceImages& images) {
  std::string text;
  for (const Problem& problem : images.problems) text += problem.message + '\n';
  for (const DeviceKernel& kernel : images.images.at(0).kernels) {
    text += std::string(kernel.name) + ' ' + std::to_string(kernel.registers) + ' ' +
            std::to_string(kernel.parameters.size()) + ' ' + std::to_string(kernel.instructions) +
            (kernel.body_read ? " read" : "") + (kernel.writes ? " writes" : "") +
            (kernel.traps ? " traps" : "") + '\n';
  }
  return text;
}

std::string show_in(const std::string& image, Form form) {
  return show(read_bare_image(Bytes(build_container({{.image = image, .form = form}})), {}));
}

// Whether it can be read without its middle.
bool is_read_partly(const std::string& image) {
  const std::string packed = compress_zstd(image);
  Decompressor decompressor;
  ImageBytes parts;
  if (!decompress_partly(Bytes(packed), image.size(), decompressor, parts)) return false;
  CHECK(parts.gap == 16 * mebibyte);
  CHECK(parts.gap_end == number_at(image, 40, 8));
  CHECK(parts.effects.size() == image.size() / 16);
  CubinReader reader;
  DeviceImage read;
  const bool told = reader.read_partly(parts, read);
  CHECK(read.kernels.empty() == !told);
  return told;
}

const std::string expected =
    "stores 8 2 -1 read writes\nstores_not 30 0 -1 read\ntraps 8 0 3 read traps\n"
    "hollow 8 0 1 read\n";

}  // namespace

TEST_CASE("of a large image the code is told from what was noted of it") {
  const std::string image = stretched(cubin(), Moved::code, 17 * mebibyte);
  CHECK(is_read_partly(image));
  CHECK(show_in(image, Form::zstd) == expected);
  CHECK(show_in(image, Form::plain) == expected);
}

TEST_CASE("a large image that is laid out in another way is read whole") {
  const std::string behind = stretched(cubin(), Moved::tables, 17 * mebibyte);
  CHECK(!is_read_partly(behind));
  CHECK(show_in(behind, Form::zstd) == expected);
  const std::string nameless = stretched(cubin(), Moved::names, 17 * mebibyte);
  CHECK(!is_read_partly(nameless));
  CHECK(show_in(nameless, Form::zstd) == expected);
  const std::string odd = stretched(cubin(), Moved::code, 17 * mebibyte, 8);
  CHECK(!is_read_partly(odd));
  CHECK(show_in(odd, Form::zstd) == expected);
  // The table of sections in front of everything.
  const std::string short_image = cubin();
  CHECK(show_in(short_image + filler(40 * mebibyte), Form::zstd) == expected);
}

TEST_CASE("a large image that is damaged says what a whole one says") {
  const std::string image = stretched(cubin(), Moved::code, 17 * mebibyte);
  std::string packed = build_container({{.image = image, .form = Form::zstd}});
  packed.replace(packed.size() / 2, 4096, 4096, '\xff');
  const DeviceImages images = read_bare_image(Bytes(packed), {});
  REQUIRE(images.problems.size() == 1);
  CHECK(images.problems[0].message.find("zstd can't decompress an image") != std::string::npos);
  CHECK(images.images[0].kernels.empty());
  const DeviceImages other = read_bare_image(
      Bytes(build_container(
          {{.image = image, .form = Form::zstd, .stated_plain_size = image.size() + 16}})),
      {});
  REQUIRE(other.problems.size() == 1);
  CHECK(other.problems[0].message.find("are stated") != std::string::npos);
}

}  // namespace opseal::test
