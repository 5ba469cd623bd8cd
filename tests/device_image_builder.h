#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opseal::test {

// Files of device code, byte by byte, as the CUDA toolkit writes them.

// Appends a number as it stands in a file.
template <typename Number>
void put(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
  }
}
template <typename Number>
void put_at(std::string& bytes, std::size_t at, Number number) {
  std::string text;
  put(text, number);
  bytes.replace(at, text.size(), text);
}

struct BuiltKernel {
  std::string name;
  std::uint32_t registers = 8;
  // As the section has it, with what the architecture reserves.
  std::uint64_t shared_memory = 0;
  std::vector<std::uint32_t> parameters = {};
  // First words of instructions, each of which takes 16 bytes.
  std::vector<std::uint64_t> body = {};
  bool local = false;
  std::array<std::uint32_t, 3> max_threads{};
  std::array<std::uint32_t, 3> required_threads{};
  std::array<std::uint32_t, 3> cluster{};
};

struct BuiltCubin {
  std::uint32_t architecture = 90;
  // As toolkits before 13 write it.
  bool older = false;
  bool relocatable = false;
  std::vector<BuiltKernel> kernels = {};
  // Options of the compiler, as its note keeps them; empty: no note.
  std::string options = {};
};
std::string build_cubin(const BuiltCubin& cubin);

struct BuiltSection {
  std::string name;
  std::uint32_t type = 1;
  // 2 allocated, 4 executable
  std::uint64_t flags = 2;
  std::string bytes = {};
  // Of a section that has no bytes in the file; 0: as many as there are above.
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
};
// An ELF64 file: the header, each section at a multiple of 8, and their table. Section 0 and the
// table of names are added; `sections[0]` gets number 1.
std::string build_elf(std::uint16_t machine, std::uint16_t type,
                      std::vector<BuiltSection> sections);

struct BuiltEntry {
  enum class Form { plain, zstd, lz4 };
  // 1 PTX, 2 cubin, 8 LTO
  std::uint16_t kind = 2;
  std::uint32_t architecture = 90;
  std::uint64_t flags = 0x11;
  std::string image = {};
  Form form = Form::plain;
  // What the entry states instead of the truth, unless 0.
  std::uint64_t stated_plain_size = 0;
};
std::string compress_zstd(const std::string& plain);
std::string build_container(const std::vector<BuiltEntry>& entries);

}  // namespace opseal::test
