#include "tests/device_image_builder.h"

#include <lz4.h>
#include <zstd.h>

#include <stdexcept>

namespace opseal::test {
namespace {

constexpr std::uint32_t properties_type = 0x70000000;

void put_record(std::string& records, std::uint8_t attribute, const std::string& value) {
  put<std::uint8_t>(records, 4);
  put<std::uint8_t>(records, attribute);
  put(records, static_cast<std::uint16_t>(value.size()));
  records += value;
}

void put_dimensions(std::string& records, std::uint8_t attribute,
                    const std::array<std::uint32_t, 3>& dimensions) {
  if (dimensions == std::array<std::uint32_t, 3>{}) return;
  std::string value;
  for (const std::uint32_t dimension : dimensions) put(value, dimension);
  put_record(records, attribute, value);
}

std::string properties_of(const BuiltKernel& kernel) {
  std::string records;
  for (std::size_t i = kernel.parameters.size(); i > 0; --i) {
    const std::uint32_t size = kernel.parameters[i - 1];
    const bool large = size >= 1U << 14;
    std::string value;
    put<std::uint32_t>(value, 0);
    put(value, static_cast<std::uint16_t>(i - 1));
    put<std::uint16_t>(value, 0);
    put(value, large ? size : size << 18 | 0xf000);
    put_record(records, large ? 0x45 : 0x17, value);
  }
  // One without a value of its own, as there are many.
  records += std::string("\3\x1b\xff\0", 4);
  put_dimensions(records, 0x05, kernel.max_threads);
  put_dimensions(records, 0x10, kernel.required_threads);
  put_dimensions(records, 0x3d, kernel.cluster);
  return records;
}

std::string code_of(const BuiltKernel& kernel) {
  std::string code;
  for (const std::uint64_t word : kernel.body) {
    put(code, word);
    put<std::uint64_t>(code, 0x000fea0003800000);
  }
  return code;
}

std::string compress_lz4(const std::string& plain) {
  const int size = static_cast<int>(plain.size());
  std::string out(static_cast<std::size_t>(LZ4_compressBound(size)), '\0');
  const int got =
      LZ4_compress_default(plain.data(), out.data(), size, static_cast<int>(out.size()));
  out.resize(static_cast<std::size_t>(got));
  return out;
}

}  // namespace

std::string compress_zstd(const std::string& plain) {
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 3);
  if (ZSTD_isError(size) != 0) throw std::runtime_error(ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

std::string build_elf(std::uint16_t machine, std::uint16_t type,
                      std::vector<BuiltSection> sections) {
  std::string names(1, '\0');
  sections.push_back({.name = ".shstrtab", .type = 3, .flags = 0});
  std::vector<std::size_t> name_offsets;
  for (const BuiltSection& section : sections) {
    name_offsets.push_back(names.size());
    names += section.name + '\0';
  }
  sections.back().bytes = names;

  std::string file = std::string("\177ELF\2\1\1", 7);
  file.resize(64);
  std::string table(64, '\0');
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const BuiltSection& section = sections[i];
    file.resize((file.size() + 7) / 8 * 8);
    put(table, static_cast<std::uint32_t>(name_offsets[i]));
    put(table, section.type);
    put(table, section.flags);
    put<std::uint64_t>(table, 0);
    put<std::uint64_t>(table, file.size());
    put<std::uint64_t>(table, section.size > 0 ? section.size : section.bytes.size());
    put(table, section.link);
    put(table, section.info);
    put<std::uint64_t>(table, 8);
    put<std::uint64_t>(table, 0);
    file += section.bytes;
  }
  file.resize((file.size() + 7) / 8 * 8);
  put_at(file, 16, type);
  put_at(file, 18, machine);
  put_at<std::uint32_t>(file, 20, 1);
  put_at<std::uint64_t>(file, 40, file.size());
  put_at<std::uint16_t>(file, 52, 64);
  put_at<std::uint16_t>(file, 58, 64);
  put_at(file, 60, static_cast<std::uint16_t>(sections.size() + 1));
  put_at(file, 62, static_cast<std::uint16_t>(sections.size()));
  return file + table;
}

std::string build_cubin(const BuiltCubin& cubin) {
  std::string names(1, '\0');
  std::string symbols(24, '\0');
  std::string registers;
  // 1 names, 2 symbols, 3 properties of the file, then three for each kernel
  std::vector<BuiltSection> sections(3);
  std::uint32_t number = 0;
  for (const BuiltKernel& kernel : cubin.kernels) {
    const std::uint32_t code = static_cast<std::uint32_t>(sections.size() + 1);
    put(symbols, static_cast<std::uint32_t>(names.size()));
    put(symbols, static_cast<std::uint8_t>((kernel.local ? 0 : 1) << 4 | 2));
    put<std::uint8_t>(symbols, 0x10);
    put(symbols, static_cast<std::uint16_t>(code));
    put<std::uint64_t>(symbols, 0);
    put<std::uint64_t>(symbols, kernel.body.size() * 16);
    names += kernel.name + '\0';
    std::string value;
    put(value, ++number);
    put(value, kernel.registers);
    put_record(registers, 0x2f, value);
    sections.push_back({.name = ".text." + kernel.name, .flags = 6, .bytes = code_of(kernel)});
    sections.push_back({.name = ".nv.info." + kernel.name,
                        .type = properties_type,
                        .flags = 0,
                        .bytes = properties_of(kernel),
                        .link = 2,
                        .info = code});
    if (kernel.shared_memory > 0) {
      sections.push_back({.name = ".nv.shared." + kernel.name,
                          .type = cubin.relocatable ? 0x7000000aU : 8U,
                          .flags = 3,
                          .size = kernel.shared_memory,
                          .info = code});
    }
  }
  sections[0] = {.name = ".strtab", .type = 3, .flags = 0, .bytes = names};
  sections[1] = {.name = ".symtab", .type = 2, .flags = 0, .bytes = symbols, .link = 1};
  sections[2] = {
      .name = ".nv.info", .type = properties_type, .flags = 0, .bytes = registers, .link = 2};
  if (!cubin.options.empty()) {
    sections.push_back(
        {.name = ".note.nv.tkinfo", .type = 7, .flags = 0, .bytes = "ptxas" + cubin.options});
  }
  std::string file = build_elf(190, cubin.relocatable ? 1 : 2, std::move(sections));
  put_at<std::uint8_t>(file, 7, cubin.older ? 0x33 : 0x41);
  put_at<std::uint8_t>(file, 8, cubin.older ? 7 : 8);
  put_at(file, 48,
         cubin.older ? cubin.architecture << 16 | 0x500 | cubin.architecture
                     : 0x06000004 | cubin.architecture << 8);
  return file;
}

std::string build_container(const std::vector<BuiltEntry>& entries) {
  std::string body;
  for (const BuiltEntry& entry : entries) {
    const bool plain = entry.form == BuiltEntry::Form::plain;
    std::string stored = plain                                  ? entry.image
                         : entry.form == BuiltEntry::Form::zstd ? compress_zstd(entry.image)
                                                                : compress_lz4(entry.image);
    const std::size_t compressed = stored.size();
    stored.resize((stored.size() + 7) / 8 * 8);
    std::uint64_t flags = entry.flags;
    if (entry.form == BuiltEntry::Form::zstd) flags |= 0x8000;
    if (entry.form == BuiltEntry::Form::lz4) flags |= 0x2000;
    put(body, entry.kind);
    put<std::uint16_t>(body, 0x101);
    put<std::uint32_t>(body, 64);
    put<std::uint64_t>(body, stored.size());
    put(body, static_cast<std::uint32_t>(plain ? 0 : compressed));
    put<std::uint32_t>(body, 0);
    put<std::uint16_t>(body, 8);
    put<std::uint16_t>(body, 1);
    put(body, entry.architecture);
    put<std::uint64_t>(body, 0);
    put(body, flags);
    put<std::uint64_t>(body, 0);
    put<std::uint64_t>(body, entry.stated_plain_size != 0 ? entry.stated_plain_size
                             : plain                      ? 0
                                                          : entry.image.size());
    body += stored;
  }
  std::string container;
  put<std::uint32_t>(container, 0xBA55ED50);
  put<std::uint16_t>(container, 1);
  put<std::uint16_t>(container, 16);
  put<std::uint64_t>(container, body.size());
  return container + body;
}

}  // namespace opseal::test
