#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzers/python/constants.h"
#include "analyzers/python/parsed.h"
#include "analyzers/sources/extensions.h"

namespace opseal {

// A Python file that is kept as long as names lead to it.
class PythonFile {
 public:
  // Throws InputError as `PythonSyntax` does.
  explicit PythonFile(std::string bytes)
      : text(std::move(bytes)), code_(text), constants(code_.syntax, code_.scopes) {}

  const std::string text;

 private:
  const ParsedPython code_;

 public:
  const PythonSyntax& syntax = code_.syntax;
  const PythonScopes& scopes = code_.scopes;
  // What it works out it keeps.
  mutable PythonConstants constants;
};

// A module, or something in it: `_C.f`.
struct ExtensionName {
  std::string module;
  // Behind the module; empty for itself.
  std::string rest;
};

// The modules that the C++ of a tree defines, by the names under which Python imports them.
class ExtensionModules {
 public:
  ExtensionModules(const std::vector<ExtensionBlock>& blocks,
                   const std::vector<std::string>& paths);

  // Some module gets its name from the build.
  bool wants_declarations() const { return !open_modules_.empty(); }
  // `CUDAExtension("pkg._C", [sources])`, `load(name="x", sources=[…])`
  void add_declarations(const PythonFile& file, std::uint32_t number);
  // The last parts of all names.
  std::set<std::string, std::less<>> last_names() const;

  // The module that a path means, or an empty text. `in_tree`: the parts are folders of the tree,
  // else what an import says. `own_root`: the tree has Python below the first part.
  std::string find(const std::vector<std::string>& parts, bool in_tree, bool own_root);

  const ExtensionModule& module(const std::string& name) { return modules_[name]; }
  // Those that are none of the ones told, each once and by the longest name that anybody gives it.
  std::vector<ExtensionModule> others_than(const std::vector<ExtensionModule>& told) const;
  // Python itself gives the module that name.
  void give(const ExtensionName& owner, const std::string& name) {
    modules_[owner.module].texts.insert(asked_name(owner, name));
  }
  void leave_open(const ExtensionName& owner) { modules_[owner.module].open = true; }
  // `f` of `f.x`, `ops.f` where `ops` is a submodule; empty for a submodule alone.
  std::string asked_name(const ExtensionName& owner, const std::string& rest);

 private:
  struct Declared {
    std::vector<std::string> parts;
    std::set<std::size_t> blocks;
    // It is all that have no name of their own, as far as anybody says.
    bool all_open = false;
  };
  // The names that end in one word; with more the word means nothing.
  static constexpr std::size_t most_namesakes = 512;

  Declared& declare(const std::string& name);
  std::set<std::size_t> blocks_of(const Declared& declared) const;
  ExtensionModule collected(const std::string& name, const std::set<std::size_t>& blocks) const;
  std::vector<std::size_t> modules_in(const std::vector<std::string>& sources,
                                      std::string_view folder) const;
  void collect(std::size_t block, const std::string& submodule, std::size_t depth,
               std::set<std::pair<std::size_t, std::string>>& seen, ExtensionModule& module) const;

  const std::vector<ExtensionBlock>& blocks_;
  const std::vector<std::string>& paths_;
  std::vector<std::size_t> open_modules_;
  std::multimap<std::string, std::size_t> functions_;
  // By dotted name.
  std::map<std::string, Declared> declared_;
  std::unordered_map<std::string, std::vector<std::string>> by_last_;
  // Modules without a name of their own, by the names of their files.
  std::unordered_map<std::string, std::vector<std::size_t>> open_by_file_;
  std::unordered_map<std::string, ExtensionModule> modules_;
};

// "a.b" -> `a`, `b`
std::vector<std::string> dotted_parts(std::string_view path);

}  // namespace opseal
