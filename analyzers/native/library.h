#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/analyzers.h"
#include "analyzers/fact_writer.h"
#include "opseal/facts.h"

namespace opseal {

// What kind of built file some first bytes show.
enum class LibraryKind : std::uint8_t {
  none,
  elf,
  archive,
  thin_archive,
  fat_binary,
  ptx,
  // Recognised, and not read.
  mach_o,
  pe,
};

LibraryKind library_kind(std::string_view head);
bool is_read(LibraryKind kind);

// Whether the bytes begin a library that is whole, and whose kind isn't read. Of an archive its
// first member tells; look_further where `head` ends before that.
Accepts tells_foreign(std::string_view head);
// Of a member of an archive: an object of another format, or what only a compiler can read.
bool is_foreign_object(std::string_view head);
inline bool is_foreign(std::string_view head) { return tells_foreign(head) == Accepts::yes; }

struct LibraryFile {
  std::string_view bytes;
  // As it stands under `path`.
  std::string_view path;
  // Its number in `Facts::files`, for the places of problems.
  std::uint32_t file = 0;
  // Folder of the file on disk, where the members of a thin archive lie. Empty: not on disk.
  std::string folder;
  // Paths of the package that hold the same bytes.
  std::vector<std::string> aliases;
  // Python files of the package that import it, and that name it: places are in other files.
  struct Mention {
    std::string file;
    std::uint32_t line = 0;
  };
  std::vector<Mention> imported_by;
  std::vector<Mention> loaded_by;
};

// Writes what a built file holds as one element of `libraries`. What can't be read becomes a
// problem, and what it belongs to (`exports`, `images`, `handlers`, ...) is not said: a list with a
// hole would make rules miss what is there. Throws InputError where the whole file is unreadable,
// with nothing written.
void write_library(const LibraryFile& library, unsigned threads, FactWriter& writer, Facts& facts);

}  // namespace opseal
