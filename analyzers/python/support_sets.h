#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/scopes.h"
#include "analyzers/python/support_tables.h"
#include "analyzers/python/syntax.h"

namespace opseal {

constexpr std::size_t fewest_keys = 2;

struct PythonSet {
  std::string name;
  SyntaxIndex node = no_syntax;
  std::vector<PythonKey> keys;

  bool has(std::string_view text) const {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const PythonKey& key) { return key.text == text; });
  }
};

// `S in NAME` or `S not in NAME` with the sign between the two.
struct PythonMembership {
  SyntaxIndex left = no_syntax;
  SyntaxIndex right = no_syntax;
  std::string_view sign;
};

// The sets and dictionaries of one file that are bound once and never changed.
class PythonSets {
 public:
  explicit PythonSets(const ParsedPython& file) : syntax_(file.syntax), scopes_(file.scopes) {
    find_changed();
  }

  // A text, or a dotted name.
  std::optional<PythonKey> key_of(SyntaxIndex index) const;
  // What a name stands for, or a set that is written out.
  std::optional<PythonSet> keys_named(SyntaxIndex expression, bool maps) const;
  std::optional<PythonMembership> comparison(SyntaxIndex index) const;
  SyntaxIndex class_around(SyntaxIndex at) const;

  // Counts what is looked at; true where it is more than a file may cost.
  bool spend(std::size_t steps) const;

 private:
  void find_changed();
  std::optional<std::vector<PythonKey>> keys_of(SyntaxIndex value, bool maps) const;
  SyntaxIndex member_of(SyntaxIndex holder, std::string_view name) const;
  void read_members(SyntaxIndex holder, std::map<std::string_view, SyntaxIndex>& members) const;

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  std::set<std::string_view> changed_;
  mutable std::size_t steps_ = 0;
  // Of each class that was asked for one: the values of its members; no_syntax: of several.
  mutable std::map<SyntaxIndex, std::map<std::string_view, SyntaxIndex>> members_;
};

}  // namespace opseal
