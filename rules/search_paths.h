#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// Where a path of a library's search list leads, from the root of the package: empty for one that
// is not relative to the library.
inline std::string search_folder(std::string_view library, std::string_view entry) {
  if (!entry.starts_with("$ORIGIN") && !entry.starts_with("${ORIGIN}")) return {};
  const std::string_view rest = entry.substr(entry.find("ORIGIN") + (entry[1] == '{' ? 7 : 6));
  std::vector<std::string_view> parts;
  const auto walk = [&parts](std::string_view path) {
    while (!path.empty()) {
      const std::size_t slash = path.find('/');
      const std::string_view part = path.substr(0, slash);
      path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
      if (part == ".." && !parts.empty()) {
        parts.pop_back();
      } else if (!part.empty() && part != "." && part != "..") {
        parts.push_back(part);
      }
    }
  };
  const std::size_t slash = library.rfind('/');
  walk(slash == library.npos ? std::string_view() : library.substr(0, slash));
  walk(rest);
  std::string folder;
  for (const std::string_view part : parts) {
    if (!folder.empty()) folder += '/';
    folder += part;
  }
  return folder;
}

}  // namespace opseal
