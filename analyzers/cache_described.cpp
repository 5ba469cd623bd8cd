#include <filesystem>

#include "analyzers/byte_source.h"
#include "analyzers/cache_layout.h"
#include "opseal/text.h"

namespace fs = std::filesystem;

namespace opseal {

void read_described(const CacheDescription& description, const FolderItem& item,
                    CacheEntry& entry) {
  const EntryNames names =
      match_entry(description.entry, description.digits, entry.directory).value();
  entry.name.text = names.name;
  entry.key.text = names.key;
  const std::string path = description.directory + '/' + entry.directory;
  entry.recomputed_key.text = recompute_key(description, names, path, entry.problem);
  for (const CachePart& part : description.parts) {
    // Inside the entry it goes where the entry goes.
    if (part.kind == CachePart::Kind::text || part.value.starts_with("{entry}")) continue;
    entry.source_files.push_back({fill_in(part.value, names, path)});
  }
  if (item.kind == FolderItem::Kind::file) {
    if (!has_library_ending(entry.directory)) return;
    entry.library.text = entry.directory;
    check_library(description.directory, item, item.settled, entry);
    return;
  }
  if (description.library.empty()) return;
  const std::string wanted = fill_in(description.library, names, path);
  const std::vector<FolderItem> items = list_folder(path, most_entry_items, entry.problem);
  bool settled = item.settled && entry.problem.empty();
  for (const FolderItem& one : items) settled = settled && one.settled;
  if (const FolderItem* library = find_item(items, wanted)) {
    entry.library.text = wanted;
    check_library(path, *library, settled, entry);
  } else if (settled) {
    entry.checked = true;
    entry.missing.push_back({wanted});
  }
}

bool read_entry_text(const std::string& path, std::string& bytes) {
  std::error_code error;
  return !fs::is_symlink(fs::symlink_status(path, error)) &&
         read_small_file(path, most_entry_text, bytes);
}

bool entry_text_starts(const std::string& path, std::string_view start) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error))) return false;
  ByteSource source = ByteSource::file(path);
  std::string bytes(start.size(), '\0');
  std::size_t filled = 0;
  for (std::size_t got = 1; got > 0 && filled < bytes.size(); filled += got) {
    got = source.read(bytes.data() + filled, bytes.size() - filled);
  }
  return source.error().empty() && bytes.substr(0, filled) == start;
}

std::string unread_text(std::string_view name) {
  return quote(name) + " is not read: a link, larger than 1 MiB, or closed to this user";
}

void check_library(const std::string& path, const FolderItem& item, bool settled,
                   CacheEntry& entry) {
  entry.library_there = true;
  // What a link leads to is not the cache's.
  if (item.kind != FolderItem::Kind::file || !settled) return;
  const LibraryState state = library_state(path + '/' + item.name);
  if (state == LibraryState::unknown) return;
  entry.checked = true;
  if (state != LibraryState::whole) entry.damaged.push_back(entry.library);
}

bool has_library_ending(std::string_view name) {
  for (const std::string_view ending : {".so", ".dylib", ".dll", ".pyd"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) return true;
  }
  return false;
}

}  // namespace opseal
