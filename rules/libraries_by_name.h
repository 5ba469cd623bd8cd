#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/paths.h"
#include "rules/library_exports.h"
#include "rules/system_libraries.h"

namespace opseal {

// What the libraries of one group offer each other: each by its soname, the name of its file and
// those of its copies.
class LibrariesByName {
 public:
  // `group` must outlive this.
  explicit LibrariesByName(const LibraryGroup& group) {
    for (const PlacedLibrary& one : group) {
      add(one, one.content[Key::soname].text());
      add(one, file_name_of(one.path()));
      for (const Fact alias : one.content[Key::aliases].items())
        add(one, file_name_of(alias.text()));
      const std::size_t slash = one.path().rfind('/');
      if (slash != std::string_view::npos)
        folders_.insert(std::string(one.path().substr(0, slash)));
    }
  }

  // Those that the loader takes for the name.
  const std::vector<const PlacedLibrary*>& named(std::string_view soname) const {
    static const std::vector<const PlacedLibrary*> none;
    const auto found = by_name_.find(soname);
    return found == by_name_.end() ? none : found->second;
  }

  // One of another version (`libx.so.3` where `libx.so.2` is asked for), or nullptr; `there` is its
  // name.
  const PlacedLibrary* other_version(std::string_view soname, std::string_view& there) const {
    if (soname_version(soname).empty()) return nullptr;
    const auto found = by_family_.find(soname_family(soname));
    if (found == by_family_.end()) return nullptr;
    there = found->second.first;
    return found->second.second;
  }

  // Some library lies in that folder itself.
  bool has_folder(const std::string& folder) const { return folders_.contains(folder); }

 private:
  void add(const PlacedLibrary& library, std::string_view name) {
    if (name.empty()) return;
    std::vector<const PlacedLibrary*>& named = by_name_[name];
    if (named.empty() || named.back() != &library) named.push_back(&library);
    if (soname_version(name).empty()) return;
    by_family_.try_emplace(soname_family(name), name, &library);
  }

  std::unordered_map<std::string_view, std::vector<const PlacedLibrary*>> by_name_;
  std::unordered_map<std::string_view, std::pair<std::string_view, const PlacedLibrary*>>
      by_family_;
  std::unordered_set<std::string> folders_;
};

}  // namespace opseal
