#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "rules/library_facts.h"

namespace opseal {

// A library, and what is known of its content.
struct PlacedLibrary {
  // The manifest that names it, or what was read from the package or file.
  Fact manifest;
  Fact library;
  Fact content;

  std::string_view path() const { return library[Key::path].text(); }
};

using LibraryGroup = std::vector<PlacedLibrary>;

// Libraries that lie together, and may be loaded by one process: those of one manifest or package,
// and those below one directory that belong to no package.
inline std::vector<LibraryGroup> library_groups(const LibraryFacts& libraries) {
  struct Row {
    // Side, group, and the document where that is a group of its own.
    std::tuple<Side, std::uint32_t, std::uint32_t> key;
    PlacedLibrary library;
  };
  std::vector<Row> rows;
  libraries.for_each([&rows](const Document& document, const Fact& manifest, const Fact& library,
                             const Fact& content) {
    const bool alone = document.group == 0 || manifest[Key::distribution].is_object();
    rows.push_back({{document.side, alone ? 0 : document.group, alone ? document.first : 0},
                    {manifest, library, content}});
  });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.key < b.key; });
  std::vector<LibraryGroup> groups;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (at == 0 || rows[at].key != rows[at - 1].key) groups.emplace_back();
    groups.back().push_back(rows[at].library);
  }
  return groups;
}

}  // namespace opseal
