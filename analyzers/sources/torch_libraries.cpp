#include "analyzers/sources/torch_libraries.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace opseal {
namespace {

// Libraries of one name among which the imported one is looked for.
constexpr std::size_t most_namesakes = 64;

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

// `/pkg/ops/library` for the file of that name, and for a package's own file.
std::string module_of(std::string_view path) {
  std::string module = "/" + std::string(path.substr(0, path.rfind('.')));
  constexpr std::string_view package = "/__init__";
  if (module.ends_with(package)) module.resize(module.size() - package.size());
  return module;
}

class LibraryNames {
 public:
  LibraryNames(const std::vector<std::string>& paths, const std::vector<TorchRecord>& records)
      : paths_(paths) {
    for (const TorchRecord& record : records) {
      if (record.use == TorchUse::holder) by_name_[record.name.text].push_back(&record);
    }
  }

  // The one library that a path means, or null.
  const TorchRecord* find(std::string_view path, std::uint32_t from) const {
    const std::size_t dot = path.rfind('.');
    if (dot == path.npos) return nullptr;
    const auto named = by_name_.find(path.substr(dot + 1));
    if (named == by_name_.end() || named->second.size() > most_namesakes) return nullptr;
    // Of a relative import the dots lead upwards, the first to the folder itself.
    std::size_t dots = 0;
    while (dots < path.size() && path[dots] == '.') ++dots;
    std::string module(path.substr(std::min(dots, dot), dot - std::min(dots, dot)));
    std::replace(module.begin(), module.end(), '.', '/');
    if (dots > 0) {
      std::string_view folder = folder_of(paths_[from]);
      for (std::size_t up = 1; up < dots; ++up) folder = folder_of(folder);
      if (!folder.empty()) module = std::string(folder) + (module.empty() ? "" : "/") + module;
    }
    module.insert(0, "/");
    const TorchRecord* found = nullptr;
    for (const TorchRecord* record : named->second) {
      const std::string own = module_of(paths_[record->place.file]);
      if (dots > 0 ? own != module : !own.ends_with(module)) continue;
      if (found != nullptr && found->space.text != record->space.text) return nullptr;
      found = record;
    }
    return found;
  }

 private:
  const std::vector<std::string>& paths_;
  std::map<std::string, std::vector<const TorchRecord*>, std::less<>> by_name_;
};

}  // namespace

void name_imported_libraries(const std::vector<std::string>& paths,
                             std::vector<TorchRecord>& records) {
  const LibraryNames libraries(paths, records);
  for (TorchRecord& record : records) {
    if (record.library_path.empty() || !record.space.open) continue;
    const TorchRecord* library = libraries.find(record.library_path, record.place.file);
    if (library == nullptr) continue;
    record.space = library->space;
    // Where no key is given, the library's own is meant.
    if (record.use == TorchUse::implement && record.key == "CompositeImplicitAutograd" &&
        !library->key.empty()) {
      record.key = library->key;
    }
  }
  std::erase_if(records, [](const TorchRecord& record) { return record.use == TorchUse::holder; });
}

}  // namespace opseal
