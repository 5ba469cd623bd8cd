#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/library_groups.h"

namespace opseal {

// What a built library offers by name: exported symbols, and kernels of its device code.
class LibraryExports {
 public:
  explicit LibraryExports(const Fact& content);

  // The exports were read to the end, or it is a file of device code only.
  bool known() const { return known_; }
  bool empty() const { return names_.empty(); }
  const Fact& content() const { return content_; }
  // The symbol or kernel of that name, or not said.
  Fact find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name).said(); }
  // An undefined symbol of that name: the library uses it and doesn't have it.
  Fact find_import(std::string_view name) const;
  // An export that is the C++ function of that name (`_Z3addPf` for `add`).
  Fact find_mangled(std::string_view name) const;
  template <typename Visit>
  void for_each_name(Visit visit) const {
    for (const Entry& entry : names_) visit(entry.name);
  }
  // Any export that begins so.
  Fact find_prefixed(std::string_view prefix) const;
  // Why `name` isn't there, or which one may be meant: "; did you mean `x`?". May be empty, and is
  // after the first few.
  std::string explain(std::string_view name);
  // What to do about a name that was explained, where more can be said than a rule's own advice.
  std::string advise(std::string_view name) const;

 private:
  struct Entry {
    std::string_view name;
    Fact fact;
  };

  Fact content_;
  // Sorted by name.
  std::vector<Entry> names_;
  std::size_t explained_ = 0;
  bool known_ = false;
};

// Exports by library, each sorted once.
class ExportTables {
 public:
  LibraryExports& of(const Fact& content) {
    return tables_.try_emplace(content.index(), content).first->second;
  }

 private:
  std::unordered_map<std::uint32_t, LibraryExports> tables_;
};

// Finds the library that a path in a manifest means.
class NamedLibraries {
 public:
  explicit NamedLibraries(const LibraryFacts& libraries);

  // No library's content is known.
  bool empty() const { return rows_.empty(); }

  // `path`: the text under `library` of a target, kernel or cache entry, or `path` of a library.
  // What is known of the content of the library, or not said where no input is it, or several may
  // be. A manifest's own libraries go before others, and the longer agreement of the paths before
  // the shorter.
  Fact find(const Fact& manifest, std::string_view path) const;

 private:
  struct Row {
    std::string_view base;
    std::string_view path;
    std::uint32_t manifest = 0;
    Fact content;
  };

  // Sorted by base name.
  std::vector<Row> rows_;
};

}  // namespace opseal
