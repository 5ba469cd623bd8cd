#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzers/package/package_contents.h"

namespace opseal {

// What the Python files of a package say of libraries, kept until all libraries are known. Hostile
// packages say a lot: beyond a limit what is said is passed over.
class MentionIndex {
 public:
  void add_file(std::uint32_t file, std::string_view text, std::string_view path);

  // Places that import the module of such a file; its first ones.
  std::vector<PackagePlace> imports_of(std::string_view path) const;
  // The same for places that name the file.
  std::vector<PackagePlace> names_of(std::string_view file_name) const;
  // Every name of a library that was mentioned; sorted.
  std::vector<std::string> names() const;

 private:
  using Places = std::vector<PackagePlace>;

  void keep(std::unordered_map<std::string, Places>& map, const std::string& name,
            PackagePlace place, std::size_t most);

  std::unordered_map<std::string, Places> modules_;
  std::unordered_map<std::string, Places> libraries_;
  // Those of `libraries_` that are patterns.
  std::vector<std::string> patterns_;
};

}  // namespace opseal
