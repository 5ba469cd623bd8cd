#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "opseal/registration.h"
#include "rules/cache_keys.h"

namespace opseal {

// Of a cache whose key is a type: the fields that a function is to use and doesn't.
class UsedFields {
 public:
  explicit UsedFields(const Fact& function) {
    for (const Fact name : function[Key::uses].items()) used_.insert(name.name());
  }

  bool has(const Fact& field) const { return used_.contains(field.name()); }

 private:
  std::unordered_set<Name> used_;
};

inline std::vector<Fact> unused_fields(const Fact& cache, const UsedFields& used) {
  std::unordered_set<Name> exempt;
  for (const Fact name : cache[Key::exempt].items()) exempt.insert(name.name());
  std::vector<Fact> missing;
  for (const Fact field : cache[Key::fields].items()) {
    if (field.is_text() && !used.has(field) && !exempt.contains(field.name())) {
      missing.push_back(field);
    }
  }
  return missing;
}

inline std::vector<std::string> names_of(const std::vector<Fact>& fields) {
  std::vector<std::string> names;
  for (const Fact& field : fields) names.emplace_back(field.text());
  return names;
}

// The first of a kind of which it is said what it uses, or nothing.
inline Fact key_function(const Fact& cache, std::string_view kind) {
  for (const Fact function : cache[Key::functions].items()) {
    if (function[Key::kind].is(kind) && all_read(function[Key::uses])) return function;
  }
  return {};
}

// Adds the places of the fields, as many as anybody reads.
inline void add_field_sites(const std::vector<Fact>& fields, Finding& finding) {
  constexpr std::size_t most = 6;
  for (std::size_t at = 0; at < fields.size() && at < most; ++at) {
    finding.related.push_back(evidence(fields[at], "field"));
  }
}

}  // namespace opseal
