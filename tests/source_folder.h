#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/sources/load.h"
#include "opseal/facts.h"

namespace opseal::test {

// Path and text of each file.
using Sources = std::vector<std::pair<std::string, std::string>>;

// The facts of a tree of sources. `macros`: as `load_sources` takes them.
inline Facts read_sources(Sources sources, bool partial = false, const std::string& macros = {}) {
  std::sort(sources.begin(), sources.end());
  SourceFolder folder;
  folder.place.path = "project";
  folder.partial = partial;
  for (const auto& [path, text] : sources) {
    InputFile file;
    file.path = path;
    file.bytes = text;
    file.size = text.size();
    folder.files.push_back(file);
  }
  return load_sources(folder, 2, macros);
}

// The manifest of a system; nothing where there is none.
inline Fact manifest_of(const Facts& facts, std::string_view system) {
  for (const Document& document : facts.documents) {
    if (facts.root(document)[Key::system].is(system)) return facts.root(document);
  }
  return {};
}

inline Fact named(const Fact& list, std::string_view name) {
  for (const Fact item : list.items()) {
    if (item[Key::name].is(name)) return item;
  }
  return {};
}

}  // namespace opseal::test
