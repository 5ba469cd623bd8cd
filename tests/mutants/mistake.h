#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
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
  // What else the made registry holds, as an object: further items under the name of a list, and
  // other members of the manifest in place of those that were recorded.
  Json& beside;
  // The same item in the dump before, where the rule compares two. What is added there was recorded
  // by nobody, and is there before the mistake is made.
  Json& before;
  // A manifest that is checked together with this one, where a mistake takes two.
  Json& other;
  // The registry as it was recorded.
  const Json& manifest;
  // Which one of its list.
  std::size_t index;
  Random& random;
};

// A mistake that somebody can make in registering something. For a rule that compares two dumps it
// is made in the second, and the first is the registry as it was recorded.
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

inline std::string text_of(const Json& object, const char* key) {
  return has(object, key) && object.at(key).is_string() ? object.at(key).get<std::string>()
                                                        : std::string();
}

inline bool is_system(const Place& place, std::string_view system) {
  return text_of(place.manifest, "system") == system;
}

// Takes a value out of a list.
inline bool drop(Json& list, const Json& value) {
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] != value) continue;
    list.erase(at);
    return true;
  }
  return false;
}

inline bool holds(const Json& list, const Json& value) {
  for (const Json& item : list) {
    if (item == value) return true;
  }
  return false;
}

// One of a list that is not empty.
inline Json& any_of(Json& list, Random& random) { return list[random() % list.size()]; }

}  // namespace opseal::test
