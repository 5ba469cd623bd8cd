#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace opseal::test {

using Json = nlohmann::ordered_json;
using Random = std::mt19937;

// Where a mistake is made: one item of a list of a recorded registry.
struct Place {
  // A copy, to be changed.
  Json& item;
  // What is registered right after it, if the mistake adds something.
  std::vector<Json>& added;
  // The registry as it was recorded.
  const Json& manifest;
  Random& random;
};

// A mistake that somebody can make in registering something.
struct Mistake {
  std::string rule;
  std::string what;
  // Changes the item and returns true, or returns false where the facts are not there.
  bool (*make)(Place& place);
  // The list whose items it can be made in; empty: the manifest itself, without its lists of
  // objects.
  std::string table = "operators";
};

// For mistakes.

// Said, and said to be there.
inline bool has(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && !object.at(key).is_null();
}

inline bool is_null(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object.at(key).is_null();
}

// The member, or an empty value that answers every `has` with no.
inline const Json& at(const Json& object, const char* key) {
  static const Json nothing;
  return has(object, key) ? object.at(key) : nothing;
}

inline bool has_items(const Json& object, const char* key) {
  return has(object, key) && object.at(key).is_array() && !object.at(key).empty();
}

// One of a list that is not empty.
inline Json& any_of(Json& list, Random& random) { return list[random() % list.size()]; }

}  // namespace opseal::test
