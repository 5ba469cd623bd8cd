// ELF64: a header of 64 bytes (its place of section headers at 40, of program headers at 32),
// tables of 64-byte section headers and of 56-byte program headers, from "System V Application
// Binary Interface, Object Files". Counts that don't fit the header's 16 bits stand in section 0.

#include "analyzers/native/elf.h"

#include <algorithm>

#include "analyzers/native/budget.h"

namespace opseal {
namespace {

constexpr std::uint64_t header_size = 64;
constexpr std::uint64_t section_header_size = 64;
constexpr std::uint64_t program_header_size = 56;
constexpr std::uint32_t no_bits = 8;
constexpr std::uint32_t note_section = 7;
constexpr std::uint32_t interpreter_segment = 3;
constexpr std::uint32_t note_segment = 4;
constexpr std::uint16_t extended_section_index = 0xffff;
constexpr std::uint16_t extended_segment_count = 0xffff;
constexpr std::uint16_t relocatable_type = 1;
// Linkers make about ten. Each address that is looked up is held against all of them.
constexpr std::uint64_t most_loaded_segments = 1024;

[[noreturn]] void refuse(const Bytes& file, std::uint64_t at, std::uint64_t length,
                         const std::string& message) {
  throw InputError(file.offset() + at, length, message);
}

void check_identity(const Bytes& file) {
  constexpr std::string_view magic = "\177ELF";
  if (!file.view().starts_with(magic)) refuse(file, 0, 0, "no ELF file: it begins otherwise");
  if (file.size() < header_size) {
    refuse(file, 0, file.size(),
           "an ELF header of " + std::to_string(file.size()) + " bytes, expected 64");
  }
  if (file.u8(4) == 1) refuse(file, 4, 1, "32-bit ELF is not read");
  if (file.u8(4) != 2) {
    refuse(file, 4, 1, "ELF class " + std::to_string(file.u8(4)) + ", expected 2 (64-bit)");
  }
  if (file.u8(5) == 2) refuse(file, 5, 1, "big-endian ELF is not read");
  if (file.u8(5) != 1) {
    refuse(file, 5, 1,
           "ELF byte order " + std::to_string(file.u8(5)) + ", expected 1 (little-endian)");
  }
}

// A table that the file must hold whole.
Bytes table(const Bytes& file, std::uint64_t at, std::uint64_t count, std::uint64_t entry_size,
            const char* what) {
  if (count > file.size() / entry_size) {
    refuse(file, 0, 0,
           std::to_string(count) + ' ' + what + " in a file of " + std::to_string(file.size()) +
               " bytes");
  }
  return file.part(at, count * entry_size, what);
}

// Empty where these notes have no build id. A note: sizes of its owner's name and of what it says,
// a type, and both, each padded.
std::string build_id_of(const Bytes& notes, std::uint64_t alignment) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::uint32_t build_id_type = 3;
  const std::uint64_t unit = alignment == 8 ? 8 : 4;
  const auto padded = [&](std::uint64_t size) { return (size + unit - 1) / unit * unit; };
  for (std::uint64_t at = 0; notes.holds(at, 12);) {
    const std::uint64_t name_size = notes.u32(at);
    const std::uint64_t size = notes.u32(at + 4);
    const std::uint64_t said = at + 12 + padded(name_size);
    if (!notes.holds(said, size)) return "";
    if (notes.u32(at + 8) == build_id_type &&
        notes.view().substr(at + 12, name_size) == std::string_view("GNU\0", 4)) {
      std::string text;
      for (std::uint64_t i = 0; i < size; ++i) {
        text += digits[notes.u8(said + i) >> 4];
        text += digits[notes.u8(said + i) & 15];
      }
      return text;
    }
    at = said + padded(size);
  }
  return "";
}

}  // namespace

Elf::Elf(Bytes file) : file_(file) {
  check_identity(file_);
  type_ = file_.u16(16);
  machine_ = file_.u16(18);
  read_sections();
  read_segments();
  find_code();
}

void Elf::read_sections() {
  const std::uint64_t at = file_.u64(40);
  if (at == 0) return;
  std::uint64_t count = file_.u16(60);
  std::uint64_t names = file_.u16(62);
  // They come last, so that what is missing of a file shows here first.
  const std::uint64_t size = std::max<std::uint64_t>(count, 1) * section_header_size;
  if (!file_.holds(at, size) && at <= UINT64_MAX - size) {
    refuse(file_, file_.size(), 0,
           "the file is cut off: " + std::to_string(file_.size()) + " of at least " +
               std::to_string(at + size) + " bytes");
  }
  const Bytes first = file_.part(at, section_header_size, "section headers");
  if (count == 0) count = first.u64(32);
  if (names == extended_section_index) names = first.u32(40);
  if (count == 0) return;
  if (file_.u16(58) != section_header_size) {
    refuse(file_, 58, 2,
           "section headers of " + std::to_string(file_.u16(58)) + " bytes, expected 64");
  }
  const Bytes headers = table(file_, at, count, section_header_size, "section headers");
  sections_.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes header = headers.part(i * section_header_size, section_header_size, "a header");
    ElfSection& section = sections_[i];
    section.type = header.u32(4);
    section.flags = header.u64(8);
    section.address = header.u64(16);
    section.offset = header.u64(24);
    section.size = header.u64(32);
    section.link = header.u32(40);
    section.info = header.u32(44);
    section.entry_size = header.u64(56);
  }
  // 0: none of them has a name.
  if (names == 0) return;
  if (names >= count) {
    refuse(file_, 62, 2,
           "section names in section " + std::to_string(names) + " of " + std::to_string(count));
  }
  const Bytes texts = data(sections_[names]);
  Budget budget(file_, "names of sections");
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at_name = i * section_header_size;
    const std::uint32_t name = headers.u32(at_name);
    if (name != 0) sections_[i].name = budget.take(texts.text(name), headers.offset() + at_name);
  }
}

void Elf::read_segments() {
  const std::uint64_t at = file_.u64(32);
  std::uint64_t count = file_.u16(56);
  if (at == 0 || count == 0) return;
  if (count == extended_segment_count && !sections_.empty()) count = sections_[0].info;
  if (file_.u16(54) != program_header_size) {
    refuse(file_, 54, 2,
           "program headers of " + std::to_string(file_.u16(54)) + " bytes, expected 56");
  }
  const Bytes headers = table(file_, at, count, program_header_size, "program headers");
  segments_.resize(count);
  std::uint64_t loaded = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes header = headers.part(i * program_header_size, program_header_size, "a header");
    ElfSegment& segment = segments_[i];
    segment.type = header.u32(0);
    segment.flags = header.u32(4);
    segment.offset = header.u64(8);
    segment.address = header.u64(16);
    segment.file_size = header.u64(32);
    segment.memory_size = header.u64(40);
    segment.alignment = header.u64(48);
    if (segment.is_loaded() && ++loaded > most_loaded_segments) {
      refuse(file_, at + i * program_header_size, program_header_size,
             "more than " + std::to_string(most_loaded_segments) + " loaded segments");
    }
  }
}

void Elf::find_code() {
  // Sections of a relocatable object have no addresses yet.
  if (type_ == relocatable_type) return;
  const auto add = [&](std::uint64_t address, std::uint64_t size) {
    if (size != 0 && size <= UINT64_MAX - address) code_.emplace_back(address, address + size);
  };
  for (const ElfSection& section : sections_) {
    if (section.is_executable() && section.is_allocated()) add(section.address, section.size);
  }
  if (sections_.empty()) {
    for (const ElfSegment& segment : segments_) {
      if (segment.is_loaded() && segment.is_executable()) add(segment.address, segment.file_size);
    }
  }
  std::sort(code_.begin(), code_.end());
}

const ElfSection* Elf::section(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const ElfSection& it) { return it.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

Bytes Elf::data(const ElfSection& section) const {
  if (section.type == no_bits) return Bytes(std::string_view(), file_.offset());
  return file_.part(section.offset, section.size, "a section");
}

std::optional<std::uint64_t> Elf::offset_of(std::uint64_t address) const {
  const Bytes bytes = at_address(address);
  if (bytes.empty()) return std::nullopt;
  return bytes.offset() - file_.offset();
}

Bytes Elf::at_address(std::uint64_t address) const {
  for (const ElfSegment& segment : segments_) {
    if (!segment.is_loaded() || address < segment.address ||
        address - segment.address >= segment.file_size) {
      continue;
    }
    const std::uint64_t inside = address - segment.address;
    // What a cut file lost is not there, wherever the headers place it.
    if (segment.offset >= file_.size() || inside >= file_.size() - segment.offset) continue;
    const std::uint64_t at = segment.offset + inside;
    return file_.part(at, std::min(segment.file_size - inside, file_.size() - at), "a segment");
  }
  return Bytes();
}

bool Elf::is_code(std::uint64_t address) const {
  const auto after = std::upper_bound(
      code_.begin(), code_.end(), address,
      [](std::uint64_t it, const std::pair<std::uint64_t, std::uint64_t>& stretch) {
        return it < stretch.first;
      });
  return after != code_.begin() && address < std::prev(after)->second;
}

std::string Elf::build_id() const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type != note_segment || !file_.holds(segment.offset, segment.file_size)) continue;
    std::string id =
        build_id_of(file_.part(segment.offset, segment.file_size, "notes"), segment.alignment);
    if (!id.empty()) return id;
  }
  for (const ElfSection& section : sections_) {
    if (section.type != note_section || !file_.holds(section.offset, section.size)) continue;
    std::string id = build_id_of(data(section), 4);
    if (!id.empty()) return id;
  }
  return "";
}

bool Elf::has_interpreter() const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [](const ElfSegment& segment) { return segment.type == interpreter_segment; });
}

}  // namespace opseal
