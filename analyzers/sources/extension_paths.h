#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzers/sources/extension_modules.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// The Python files of a tree, parsed when asked for.
class PythonFiles {
 public:
  PythonFiles(const std::vector<std::string>& paths, const SourceTexts& texts);

  // Null for what can't be read or parsed, and for all behind a limit.
  const PythonFile* parsed(std::uint32_t file);
  // Only files that say something of a module hand one on.
  void take(std::uint32_t file) { taken_.insert(file); }
  bool is_taken(std::uint32_t file) const { return taken_.count(file) > 0; }

  const std::string& path(std::uint32_t file) const { return paths_[file]; }
  // The file that a dotted path means; `in_tree`: its parts are folders of the tree. `asking`: the
  // file that imports it, near which it is looked for.
  std::uint32_t find(const std::vector<std::string>& parts, bool in_tree,
                     std::uint32_t asking) const;
  // The tree has Python in a folder of that path, or below. Where it is installed, the first
  // folders may be others.
  bool has_folder(const std::vector<std::string>& parts, bool in_tree) const;
  // A file of that name in a folder of the name before, wherever that is.
  bool has_namesake(const std::vector<std::string>& parts) const;

  static constexpr std::uint32_t none = 0xffffffff;

 private:
  const std::vector<std::string>& paths_;
  const SourceTexts& texts_;
  std::unordered_map<std::uint32_t, std::unique_ptr<PythonFile>> files_;
  std::unordered_set<std::uint32_t> taken_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> by_name_;
  // With `/` in front and behind.
  std::unordered_set<std::string> folders_;
  std::unordered_map<std::string, std::vector<std::string>> folders_by_name_;
  std::size_t bytes_ = 0;
};

// What expressions of Python mean, as far as it is a module of C++ or something in one.
class ExtensionPaths {
 public:
  ExtensionPaths(PythonFiles& files, ExtensionModules& modules)
      : files_(files), modules_(modules) {}

  std::vector<ExtensionName> of(std::uint32_t file, SyntaxIndex expression) {
    return of(file, expression, 0);
  }
  // Of what an import names: `._C.f`.
  std::vector<ExtensionName> of_import(std::uint32_t file, std::string_view path) {
    return of_import(file, path, 0);
  }
  // Of a module that a loader of the project is asked for.
  std::vector<ExtensionName> of_loaded(std::string_view name);
  // The names of a file's top level that are modules.
  std::vector<std::string> handed_on(std::uint32_t file);

 private:
  // Names that were followed; many meanings of many names would take hours.
  static constexpr std::size_t most_steps = 5'000'000;
  std::size_t steps_ = 0;

  std::vector<ExtensionName> of(std::uint32_t file, SyntaxIndex expression, std::size_t depth);
  std::vector<ExtensionName> of_import(std::uint32_t file, std::string_view path,
                                       std::size_t depth);
  std::vector<ExtensionName> of_call(std::uint32_t file, SyntaxIndex call, std::size_t depth);
  std::vector<ExtensionName> of_bindings(std::uint32_t file,
                                         const std::vector<PythonBinding>& bindings,
                                         std::size_t depth);
  std::vector<ExtensionName> settle(std::uint32_t asking, const std::vector<std::string>& parts,
                                    bool in_tree, std::size_t depth);

  PythonFiles& files_;
  ExtensionModules& modules_;
  // What was found for the meanings of a name.
  std::unordered_map<const void*, std::vector<ExtensionName>> known_;
};

}  // namespace opseal
