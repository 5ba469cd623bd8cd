#include "analyzers/folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

#include "analyzers/byte_source.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

FolderItem::Kind kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return FolderItem::Kind::link;
  if (S_ISDIR(mode)) return FolderItem::Kind::folder;
  return S_ISREG(mode) ? FolderItem::Kind::file : FolderItem::Kind::other;
}

FolderItem look_at(const fs::path& path, std::time_t now) {
  FolderItem item;
  item.name = path.filename().string();
  struct stat status {};
  // One that is gone by now is of no kind.
  if (::lstat(path.c_str(), &status) != 0) return item;
  item.kind = kind_of(status.st_mode);
  if (item.kind == FolderItem::Kind::file) item.size = static_cast<std::uint64_t>(status.st_size);
  constexpr std::time_t hour = 3600;
  item.settled = item.kind != FolderItem::Kind::link && now - status.st_mtime > hour;
  return item;
}

// Needs: `at` + `width` bytes are there.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t width, bool big_end) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t from = big_end ? at + i : at + width - 1 - i;
    value = value << 8 | static_cast<unsigned char>(bytes[from]);
  }
  return value;
}

// The ELF header (System V ABI, chapter 4): behind the tables of program and section headers
// nothing may be missing. Where a product doesn't fit, the numbers are no file's.
LibraryState elf_state(std::string_view head, std::uint64_t size) {
  const bool wide = head.size() > 4 && head[4] == 2;
  if (head.size() < (wide ? 64 : 52)) return LibraryState::cut;
  const bool big_end = head[5] == 2;
  const std::size_t width = wide ? 8 : 4;
  const std::size_t program_table = wide ? 32 : 28;
  const std::size_t counts = wide ? 54 : 42;
  const std::uint64_t offsets[] = {number(head, program_table, width, big_end),
                                   number(head, program_table + width, width, big_end)};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t table =
        number(head, counts + i * 4, 2, big_end) * number(head, counts + i * 4 + 2, 2, big_end);
    if (offsets[i] > size || table > size - offsets[i]) return LibraryState::cut;
  }
  return LibraryState::whole;
}

bool has_other_magic(std::string_view head) {
  for (const std::string_view magic :
       {std::string_view("\xcf\xfa\xed\xfe"), std::string_view("\xce\xfa\xed\xfe"),
        std::string_view("\xca\xfe\xba\xbe"), std::string_view("MZ")}) {
    if (head.starts_with(magic)) return true;
  }
  return false;
}

}  // namespace

std::vector<FolderItem> list_folder(const std::string& path, std::size_t most, std::string& error) {
  std::vector<FolderItem> items;
  const std::time_t now = std::time(nullptr);
  std::error_code code;
  fs::directory_iterator it(path, code);
  for (const fs::directory_iterator end; !code && it != end; it.increment(code)) {
    if (items.size() >= most) {
      error = "more than " + std::to_string(most) + " items, of which the others are not read";
      break;
    }
    items.push_back(look_at(it->path(), now));
  }
  if (code) error = code.message();
  std::sort(items.begin(), items.end(),
            [](const FolderItem& a, const FolderItem& b) { return a.name < b.name; });
  return items;
}

std::vector<std::string> folders_in(const std::string& path, std::size_t most) {
  std::vector<std::string> names;
  std::error_code code;
  fs::directory_iterator it(path, code);
  for (const fs::directory_iterator end; !code && it != end; it.increment(code)) {
    // Told by the directory itself on most file systems, without a look at the item.
    if (it->is_symlink(code) || !it->is_directory(code)) continue;
    names.push_back(it->path().filename().string());
    if (names.size() >= most) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

const FolderItem* find_item(const std::vector<FolderItem>& items, std::string_view name) {
  const auto found = std::lower_bound(
      items.begin(), items.end(), name,
      [](const FolderItem& item, std::string_view wanted) { return item.name < wanted; });
  return found != items.end() && found->name == name ? &*found : nullptr;
}

bool read_small_file(const std::string& path, std::uint64_t most, std::string& bytes) {
  std::error_code error;
  if (!fs::is_regular_file(fs::status(path, error)) || error) return false;
  ByteSource source = ByteSource::file(path);
  std::array<char, 65536> buffer;
  bytes.clear();
  for (std::size_t got = 0; (got = source.read(buffer.data(), buffer.size())) > 0;) {
    bytes.append(buffer.data(), got);
    if (bytes.size() > most) return false;
  }
  return source.error().empty();
}

LibraryState library_state(const std::string& path) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) return LibraryState::unknown;
  if (size == 0) return LibraryState::empty;
  ByteSource source = ByteSource::file(path);
  std::array<char, 64> buffer;
  std::size_t filled = 0;
  for (std::size_t got = 1; got > 0 && filled < buffer.size(); filled += got) {
    got = source.read(buffer.data() + filled, buffer.size() - filled);
  }
  if (!source.error().empty()) return LibraryState::unknown;
  const std::string_view head(buffer.data(), filled);
  if (head.starts_with("\x7f"
                       "ELF"))
    return elf_state(head, size);
  return has_other_magic(head) ? LibraryState::whole : LibraryState::foreign;
}

}  // namespace opseal
