// Libraries made to hurt: small files whose parts show the same bytes again and again, or state
// sizes that they don't have. Reading one takes processor time and memory in proportion to its
// size, by a bound for which each of them was made.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bounded.h"
#include "tests/device_image_builder.h"

namespace opseal::test {
namespace {

using Form = BuiltEntry::Form;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

bool tells(const std::string& outcome, std::string_view words) {
  return outcome.find(words) != std::string::npos;
}

// As many sections as there are, all with the bytes of the first.
std::string show_first_bytes_in_all(std::string file) {
  const auto number_at = [&file](std::size_t at, std::size_t bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = bytes; i > 0; --i) {
      number = number << 8 | static_cast<unsigned char>(file[at + i - 1]);
    }
    return number;
  };
  const std::size_t table = number_at(40, 8);
  const std::size_t count = number_at(60, 2);
  // The first is none, and the last holds the names.
  for (std::size_t i = 2; i + 1 < count; ++i) {
    put_at(file, table + i * 64 + 24, number_at(table + 64 + 24, 8));
    put_at(file, table + i * 64 + 32, number_at(table + 64 + 32, 8));
  }
  return file;
}

std::string many_sections(std::size_t count, std::uint64_t flags, const std::string& bytes) {
  std::vector<BuiltSection> sections(count, {.name = ".x", .flags = flags});
  sections[0].bytes = bytes;
  return show_first_bytes_in_all(build_elf(62, 3, std::move(sections)));
}

// Loaded at address 0 as it stands in the file, with a dynamic table; without sections.
std::string loaded_file(std::size_t segments, const std::vector<std::uint64_t>& dynamic,
                        const std::string& rest) {
  std::string file = std::string("\177ELF\2\1\1", 7);
  file.resize(64);
  put_at<std::uint16_t>(file, 16, 3);
  put_at<std::uint16_t>(file, 18, 62);
  put_at<std::uint32_t>(file, 20, 1);
  put_at<std::uint64_t>(file, 32, 64);
  put_at<std::uint16_t>(file, 52, 64);
  put_at<std::uint16_t>(file, 54, 56);
  put_at<std::uint16_t>(file, 56, static_cast<std::uint16_t>(segments + 1));
  const std::uint64_t table = 64 + (segments + 1) * 56;
  const std::uint64_t end = table + dynamic.size() * 8 + rest.size();
  for (std::size_t i = 0; i <= segments; ++i) {
    const bool is_dynamic = i == segments;
    // All but the last one that is loaded begin beyond every address that is asked for.
    const std::uint64_t address = is_dynamic ? table : i + 1 < segments ? (i + 1) << 40 : 0;
    put<std::uint32_t>(file, is_dynamic ? 2 : 1);
    put<std::uint32_t>(file, 4);
    put<std::uint64_t>(file, is_dynamic ? table : 0);
    put<std::uint64_t>(file, address);
    put<std::uint64_t>(file, address);
    put<std::uint64_t>(file, is_dynamic ? dynamic.size() * 8 : end);
    put<std::uint64_t>(file, is_dynamic ? dynamic.size() * 8 : end);
    put<std::uint64_t>(file, 8);
  }
  for (const std::uint64_t word : dynamic) put(file, word);
  return file + rest;
}

// What makes a reader look at relocations: the beginning of the name of a handler's type.
constexpr std::string_view handler_name = "N3xla3ffi7HandlerIx";

// Packed relocations of which each word stands for 63 pointers, with so many loaded segments.
std::string relocation_flood(std::size_t segments, std::size_t words) {
  const std::uint64_t place = 64 + (segments + 1) * 56 + 8 * 8;
  std::string rest;
  put<std::uint64_t>(rest, 0x1000);
  for (std::size_t i = 1; i < words; ++i) put<std::uint64_t>(rest, UINT64_MAX);
  rest += std::string(8, '\0') + std::string(handler_name) + std::string(8, '\0');
  // DT_RELR, DT_RELRSZ, DT_RELRENT, DT_NULL
  return loaded_file(segments, {36, place, 35, words * 8, 37, 8, 0, 0}, rest);
}

}  // namespace

TEST_CASE("hostile library: sections that show the same bytes again and again") {
  const std::string data(4 * mebibyte, 'x');
  // 40,000 times four megabytes, read-only and as code.
  CHECK(tells(read_within(many_sections(40000, 2, data), "libhostile.so", 64 * mebibyte),
              "sections of more than"));
  read_within(many_sections(40000, 6, data), "libhostile.so", 64 * mebibyte);
  // Containers with one kernel each.
  const std::string container = build_container({{.image = build_cubin({.kernels = {{"k"}}})}});
  std::string containers;
  while (containers.size() < mebibyte) containers += container;
  CHECK(tells(read_within(many_sections(40000, 2, containers), "libhostile.so", 256 * mebibyte),
              "sections of more than"));
}

TEST_CASE("hostile library: names of sections that are ends of one long text") {
  std::string file = many_sections(40000, 2, "x");
  // The names come last, before the headers: make them longer, and put each into the text.
  const std::string text(4 * mebibyte, 'n');
  std::size_t table = 0;
  for (std::size_t i = 8; i > 0; --i) {
    table = table << 8 | static_cast<unsigned char>(file[40 + i - 1]);
  }
  std::string headers = file.substr(table);
  const std::size_t place = file.size();
  for (std::size_t i = 1; i * 64 < headers.size(); ++i) {
    put_at(headers, i * 64, static_cast<std::uint32_t>(i));
  }
  put_at(headers, headers.size() - 64 + 24, static_cast<std::uint64_t>(place));
  put_at(headers, headers.size() - 64 + 32, static_cast<std::uint64_t>(text.size() + 1));
  file += text + '\0';
  file.resize((file.size() + 7) / 8 * 8);
  put_at(file, 40, static_cast<std::uint64_t>(file.size()));
  CHECK(tells(read_within(file + headers, "libhostile.so", 64 * mebibyte),
              "names of sections of more than"));
}

TEST_CASE("hostile library: a flood of packed relocations") {
  // A megabyte for eight million pointers.
  CHECK(tells(read_within(relocation_flood(1, 131072), "libhostile.so", 128 * mebibyte),
              "packed relocations"));
  CHECK(tells(read_within(relocation_flood(60000, 131072), "libhostile.so", 128 * mebibyte),
              "more than 1024 loaded segments"));
}

TEST_CASE("hostile library: images that state more bytes than they have") {
  for (const Form form : {Form::zstd, Form::lz4}) {
    for (const std::uint64_t size :
         {std::uint64_t{1} << 62, std::uint64_t{1} << 40, 500 * mebibyte}) {
      const std::string file =
          build_container({{.image = "x", .form = form, .stated_plain_size = size}});
      CHECK(tells(read_within(file, "x.fatbin", 16 * mebibyte), "after decompression"));
    }
  }
  // Truthfully: six hundred bytes for sixteen megabytes each, 48 GB in all.
  const BuiltEntry zeros = {.image = std::string(16 * mebibyte - 1, '\0'), .form = Form::zstd};
  const std::string one = build_container({zeros}).substr(16);
  std::string file = build_container({zeros});
  for (int i = 0; i < 3000; ++i) file += one;
  put_at(file, 8, static_cast<std::uint64_t>(file.size() - 16));
  CHECK(tells(read_within(file, "x.fatbin", 64 * mebibyte), "at most 1024 times as many are read"));
}

TEST_CASE("hostile library: PTX made of beginnings") {
  const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";
  const auto repeated = [](std::string_view part, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += part;
    return text;
  };
  for (const std::string_view part :
       {".entry ", ".entry a(", ".entry a(.param .b8 x[4294967295],", "/*.entry a(){}", "//.entry ",
        "/ .entry a", ".entry a /*", ".visible .entry a(.param .u8 ", "\".entry a",
        ".entry a() .maxntid 1,1,1,1,1,"}) {
    INFO(part);
    read_within(head + repeated(part, 2 * mebibyte), "x.ptx", 256 * mebibyte);
  }
  // One parameter list that never ends.
  read_within(head + ".entry a(" + repeated(".param .u8 a,", 4 * mebibyte), "x.ptx",
              256 * mebibyte);
}

TEST_CASE("hostile library: thousands of containers that lead to the same entries") {
  constexpr std::size_t count = 20000;
  const std::string entry = build_container({{.image = ""}}).substr(16);
  std::string data;
  for (std::size_t i = 0; i < count; ++i) {
    put<std::uint32_t>(data, 0xBA55ED50);
    put<std::uint16_t>(data, 1);
    put<std::uint16_t>(data, 16);
    put<std::uint64_t>(data, (count - i) * 80 + count * entry.size() + 64 - 16);
    std::string jump = entry.substr(0, 64);
    put_at<std::uint64_t>(jump, 8, (count - i - 1) * 80);
    data += jump;
  }
  for (std::size_t i = 0; i < count; ++i) data += entry;
  data += std::string(64, '\1');
  for (const char* section : {".rodata", ".nv_fatbin"}) {
    read_within(build_elf(62, 3, {{.name = section, .bytes = data}}), "libhostile.so",
                128 * mebibyte);
  }
}

TEST_CASE("hostile library: members of an archive that share one long name") {
  std::string file = "!<arch>\n";
  const auto add = [&file](std::string name, const std::string& bytes) {
    const std::string size = std::to_string(bytes.size());
    name.resize(16, ' ');
    file += name + std::string(32, ' ') + size + std::string(10 - size.size(), ' ') + "`\n" + bytes;
    if (file.size() % 2 == 1) file += '\n';
  };
  add("//", std::string(mebibyte, 'n') + "/\n");
  for (int i = 0; i < 20000; ++i) add("/0", "");
  CHECK(tells(read_within(file, "libx.a", 64 * mebibyte), "names of members of more than"));
}

}  // namespace opseal::test
