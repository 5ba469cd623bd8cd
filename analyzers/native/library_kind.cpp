#include <cstdint>
#include <string_view>

#include "analyzers/native/byte_reader.h"
#include "analyzers/native/device_images.h"
#include "analyzers/native/library.h"

namespace opseal {
namespace {

bool is_pe(std::string_view head) {
  if (!head.starts_with("MZ") || head.size() < 0x40) return false;
  const auto header = Bytes(head).u32(0x3c);
  if (Bytes(head).holds(header, 4)) {
    return head.substr(header, 4) == std::string_view("PE\0\0", 4);
  }
  // Behind a long program for DOS, and so beyond what was read of the file. Letters would make a
  // place far larger than that.
  constexpr std::uint32_t farthest = 0x10000;
  return header >= 0x1000 && header < farthest && header % 8 == 0;
}

bool is_mach_o(std::string_view head) {
  if (head.size() < 8) return false;
  const std::string_view magic = head.substr(0, 4);
  for (const std::string_view one : {"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xfe\xed\xfa\xcf",
                                     "\xfe\xed\xfa\xce", "\xca\xfe\xba\xbf"}) {
    if (magic == one) return true;
  }
  // Java's class files begin so too; there the second number holds a version of 45 or more.
  return magic == "\xca\xfe\xba\xbe" && head.substr(4, 3) == std::string_view("\0\0\0", 3) &&
         head[7] < 45;
}

// An object or a member of an import library of Windows.
bool is_coff(std::string_view head) {
  for (const std::string_view magic :
       {std::string_view("\0\0\xff\xff", 4), std::string_view("\x64\x86"),
        std::string_view("\x4c\x01"), std::string_view("\x64\xaa")}) {
    if (head.starts_with(magic)) return true;
  }
  return false;
}

// The file behind the headers of an archive that come first: the indices of its symbols and names
// have no content of their own. Empty where `head` ends before.
std::string_view first_member(std::string_view head) {
  // `ar`: a name of 16 bytes, at 48 the size in decimal digits, and content at even places.
  constexpr std::size_t header_size = 60;
  // So much of a member shows its kind.
  constexpr std::size_t shown = 64;
  for (std::size_t at = 8; at < head.size() && head.size() - at >= header_size + shown;) {
    const std::string_view header = head.substr(at, header_size);
    std::uint64_t size = 0;
    for (const char digit : header.substr(48, 10)) {
      if (digit < '0' || digit > '9') break;
      size = size * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    at += header_size;
    if (header[0] != '/' || (header[1] >= '0' && header[1] <= '9')) return head.substr(at);
    if (size >= head.size() - at) return {};
    at += size + size % 2;
  }
  return {};
}

}  // namespace

// An object file of another system, or of a compiler's own form: Mach-O, LLVM bitcode, COFF and its
// import libraries, WebAssembly. Archives hold other things as well, which are none of opseal's.
bool is_foreign_object(std::string_view head) {
  for (const std::string_view magic :
       {std::string_view("BC\xc0\xde"), std::string_view("\xde\xc0\x17\x0b"),
        std::string_view("\0asm", 4)}) {
    if (head.starts_with(magic)) return true;
  }
  return is_coff(head);
}

LibraryKind library_kind(std::string_view head) {
  if (head.starts_with("\x7f"
                       "ELF")) {
    return LibraryKind::elf;
  }
  if (head.starts_with("!<arch>\n")) {
    return head.substr(8).starts_with("debian-binary") ? LibraryKind::none : LibraryKind::archive;
  }
  if (head.starts_with("!<thin>\n")) return LibraryKind::thin_archive;
  if (is_fat_binary(head)) return LibraryKind::fat_binary;
  if (is_pe(head)) return LibraryKind::pe;
  if (is_mach_o(head)) return LibraryKind::mach_o;
  return is_ptx(head) ? LibraryKind::ptx : LibraryKind::none;
}

bool is_read(LibraryKind kind) {
  return kind != LibraryKind::none && kind != LibraryKind::mach_o && kind != LibraryKind::pe;
}

Accepts tells_foreign(std::string_view head) {
  switch (library_kind(head)) {
    case LibraryKind::mach_o:
    case LibraryKind::pe:
      return Accepts::yes;
    case LibraryKind::elf:
      // Its class (1 is 32-bit) and its byte order (2 is big-endian).
      return head.size() > 5 && (head[4] == 1 || head[5] == 2) ? Accepts::yes : Accepts::no;
    case LibraryKind::archive: {
      const std::string_view member = first_member(head);
      if (member.empty()) return Accepts::look_further;
      if (is_coff(member)) return Accepts::yes;
      return library_kind(member) == LibraryKind::archive ? Accepts::no : tells_foreign(member);
    }
    default:
      return Accepts::no;
  }
}

Accepts accepts_library(std::string_view head, bool) {
  return library_kind(head) == LibraryKind::none ? Accepts::no : Accepts::yes;
}

}  // namespace opseal
