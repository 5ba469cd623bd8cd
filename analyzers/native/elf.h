#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/native/byte_reader.h"

namespace opseal {

// ELF64, little-endian, as the System V ABI and the GNU extensions fix it. Texts are views into the
// file's bytes, which must outlive this.

struct ElfSection {
  std::string_view name;
  // SHT_...
  std::uint32_t type = 0;
  // SHF_...
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  // Bytes of the file; a SHT_NOBITS section has none there.
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;

  bool is_allocated() const { return (flags & 2) != 0; }
  bool is_executable() const { return (flags & 4) != 0; }
  bool is_writable() const { return (flags & 1) != 0; }
  bool is_compressed() const { return (flags & 0x800) != 0; }
};

struct ElfSegment {
  // PT_...
  std::uint32_t type = 0;
  // PF_...
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t alignment = 0;

  bool is_loaded() const { return type == 1; }
  bool is_executable() const { return (flags & 1) != 0; }
};

struct ElfSymbol {
  std::string_view name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  // STT_..., STB_..., STV_...
  std::uint8_t type = 0;
  std::uint8_t binding = 0;
  std::uint8_t visibility = 0;
  // SHN_UNDEF (0): imported. SHN_ABS (0xfff1) and SHN_COMMON (0xfff2) as they stand; an index that
  // needs the extension table (SHN_XINDEX) is the one found there.
  std::uint32_t section = 0;
  // Empty: unversioned.
  std::string_view version;
  // Of an import: the soname that shall provide the version.
  std::string_view version_library;
  // Of a definition with a version. False: only those bind to it that ask for this version; what
  // was linked without one takes another (`name@VERSION` beside `name@@VERSION`).
  bool default_version = true;
  // Bytes of the file, where its table entry stands.
  std::uint64_t offset = 0;

  bool is_defined() const { return section != 0; }
  // What `readelf --dyn-syms` shows as a definition that others can bind to: global, weak or
  // unique, and neither hidden nor internal.
  bool is_export() const {
    return is_defined() && (binding == 1 || binding == 2 || binding == 10) &&
           (visibility == 0 || visibility == 3);
  }
  bool is_function() const { return type == 2 || type == 10; }
  bool is_weak() const { return binding == 2; }
};

// What the dynamic section says.
struct ElfDynamic {
  std::string_view soname;
  std::vector<std::string_view> needed;
  // DT_RPATH and DT_RUNPATH, split at `:`.
  std::vector<std::string_view> rpath;
  std::vector<std::string_view> run_path;
  // Needed soname -> versions asked of it (`GLIBC_2.27`), whether or not a symbol uses them.
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> version_needs;
  // Versions that the file itself defines, its own name left out.
  std::vector<std::string_view> version_definitions;
};

class Elf {
 public:
  // Throws InputError where the headers don't hold together. Section headers that are missing are
  // no error: `sections()` is empty then, and everything else works by program headers.
  explicit Elf(Bytes file);

  // ET_...: 1 relocatable, 2 executable, 3 shared.
  std::uint16_t type() const { return type_; }
  // EM_...: 62 x86-64, 183 aarch64, 190 CUDA.
  std::uint16_t machine() const { return machine_; }
  const Bytes& file() const { return file_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  // The first of that name, or nullptr.
  const ElfSection* section(std::string_view name) const;
  // The bytes of a section as they stand in the file; empty for SHT_NOBITS. Throws InputError.
  Bytes data(const ElfSection& section) const;
  // The same, decompressed where the section is (SHF_COMPRESSED, zlib or zstd); `storage` then
  // holds the bytes and must outlive what is returned. Throws InputError, also where there are more
  // than `most` bytes.
  Bytes plain_data(const ElfSection& section, std::string& storage,
                   std::uint64_t most = std::uint64_t{1} << 30) const;

  // Where an address of the loaded file stands in the file, by the program headers; nothing for
  // what has no bytes there.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  // The bytes from an address to the end of the stretch that holds it; empty outside.
  Bytes at_address(std::uint64_t address) const;
  bool is_code(std::uint64_t address) const;
  // Addresses of instructions, [first, second), sorted: of sections where there are any, since a
  // segment may hold read-only data, too; else of segments.
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& code() const { return code_; }

  // Lower-case hexadecimal digits of the GNU build id; empty without one.
  std::string build_id() const;
  // `true` where PT_INTERP names a loader: a program, even where `type()` says shared.
  bool has_interpreter() const;
  // Throws InputError.
  ElfDynamic dynamic() const;
  // Of the dynamic table, by the section or, without one, by the program headers and the hash
  // table that tells its length. Undefined symbols are among them. With versions. Throws
  // InputError.
  std::vector<ElfSymbol> dynamic_symbols() const;
  // Of SHT_SYMTAB; empty on stripped files. Throws InputError.
  std::vector<ElfSymbol> symbols() const;
  // Those of them whose name holds `part`, without a look at the others: a large file's symbols
  // take more memory than all else that is read of it.
  std::vector<ElfSymbol> symbols_with(std::string_view part) const;

 private:
  void read_sections();
  void read_segments();
  void find_code();

  Bytes file_;
  std::uint16_t type_ = 0;
  std::uint16_t machine_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> code_;
};

// Addresses that the loader fills in, and with what: RELATIVE, 64, GLOB_DAT, JUMP_SLOT, IRELATIVE
// and the packed RELR form. Sorted by address.
struct ElfPointer {
  // Where the pointer stands.
  std::uint64_t address = 0;
  // What it points to within the file; 0 for a symbol that another file provides.
  std::uint64_t target = 0;
  // Of the dynamic symbol that it is bound to; empty for a relative one.
  std::string_view symbol;
};

// Throws InputError. Empty for machines other than x86-64 and aarch64.
std::vector<ElfPointer> read_pointers(const Elf& elf);

// [first, second): the functions of the file by its unwind table (`.eh_frame_hdr`), sorted, which a
// stripped file keeps. A start's end is the next start, or the end of the code. Empty without one.
std::vector<std::pair<std::uint64_t, std::uint64_t>> function_ranges(const Elf& elf);

}  // namespace opseal
