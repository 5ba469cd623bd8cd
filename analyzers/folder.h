#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// What stands in a directory, seen without opening or following any of it.
struct FolderItem {
  enum class Kind : std::uint8_t { file, folder, link, other };

  std::string name;
  Kind kind = Kind::other;
  // Bytes of a file.
  std::uint64_t size = 0;
  // Nobody wrote it within the last hour, so that no running build is at work on it. (Only the
  // time of the item itself, not of what a folder holds.)
  bool settled = false;
};

// The items of a directory, sorted by name: at most `most`, and then `error` says so, as it does
// when the directory can't be read.
std::vector<FolderItem> list_folder(const std::string& path, std::size_t most, std::string& error);

// Names of the directories in a directory, links to some left out, sorted: for many directories, as
// far as they can be read.
std::vector<std::string> folders_in(const std::string& path, std::size_t most);

const FolderItem* find_item(const std::vector<FolderItem>& items, std::string_view name);

// The bytes of a regular file, and true; false when it is none, is larger than `most` bytes or
// can't be read.
bool read_small_file(const std::string& path, std::uint64_t most, std::string& bytes);

// Whether a file can be loaded or is the ruin of one.
enum class LibraryState : std::uint8_t { whole, empty, cut, foreign, unknown };

// By its size and first bytes: ELF (whose header says where the file must reach), Mach-O, PE.
// `unknown` when it can't be read.
LibraryState library_state(const std::string& path);

}  // namespace opseal
