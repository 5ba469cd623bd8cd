// The cache of kernels that brainevent builds at run time, and whatever else is laid out so:
//
//   <cache>/<name>_<16 lower-case hexadecimal digits>/<name>.so
//   <cache>/<name>_<key>/.<name>.<pid>[.<uuid>].tmp.so   while it is being stored
//   <cache>/.build-<pid>-<8 hexadecimal digits>/         while it is being built
//
// The library is moved there in one step, so that an empty one was never whole. Nothing in an entry
// says what its key was made of (source, architecture, versions, flags, header contents): to make
// it again takes a description in the configuration.

#include "analyzers/cache_layout.h"

namespace opseal {
namespace {

constexpr std::string_view pattern = "{name}_{key}";
constexpr std::size_t digits = 16;

bool claims(const std::string&, std::string_view child) {
  return match_entry(pattern, digits, child).has_value();
}

const FolderItem* library_in(const std::vector<FolderItem>& items, std::string_view name) {
  for (const FolderItem& item : items) {
    if (item.name.starts_with(name) && has_library_ending(item.name) &&
        item.name.find('.', name.size()) == name.size() &&
        item.name.find('.', name.size() + 1) == std::string::npos) {
      return &item;
    }
  }
  return nullptr;
}

bool proves(const std::string& cache, const std::string& child) {
  std::string error;
  const std::vector<FolderItem> items = list_folder(cache + '/' + child, most_entry_items, error);
  return library_in(items, match_entry(pattern, digits, child)->name) != nullptr;
}

void read(const std::string& path, const std::vector<FolderItem>& items, bool settled,
          CacheEntry& entry) {
  const EntryNames names = match_entry(pattern, digits, entry.directory).value();
  entry.name.text = names.name;
  entry.key.text = names.key;
  for (const FolderItem& item : items) {
    const bool temporary = item.name.starts_with('.' + names.name + '.') &&
                           item.name.find(".tmp") != std::string::npos;
    if (temporary && item.settled) entry.temporary.push_back(item.name);
  }
  if (const FolderItem* library = library_in(items, names.name)) {
    entry.library.text = library->name;
    check_library(path, *library, true, entry);
  } else if (settled) {
    entry.checked = true;
    entry.missing.push_back({names.name + ".so"});
  }
}

bool is_temporary(std::string_view child) { return child.starts_with(".build-"); }

}  // namespace

constinit const CacheLayout kernix_layout{.name = "kernix",
                                          .claims = claims,
                                          .proves = proves,
                                          .read = read,
                                          .is_temporary = is_temporary};

}  // namespace opseal
