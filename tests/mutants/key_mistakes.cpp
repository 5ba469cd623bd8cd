#include <string>
#include <utility>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

Mistake key_mistake(const char* rule, const char* what, bool (*make)(Place&)) {
  return {rule, what, make, "caches"};
}

// Another cache of the registry, with a key that lacks nothing.
Json sound_cache(const Place& place) {
  Json cache = place.item;
  cache["name"] = text_of(place.item, "name") + "_of_a_plugin";
  cache["schema"] = "1";
  cache["separated"] = true;
  cache["temporary_name"] = {"pid", "uuid"};
  for (const char* input : {"specs", "environment"}) {
    if (!holds(cache["inputs"], input)) cache["inputs"].push_back(input);
  }
  cache["headers"]["covered"] = {"injected", "extra_include_paths"};
  return cache;
}

// What a walk through the cache found in one entry.
bool hold_entry(Place& place, Json entry) {
  entry["name"] = "mv";
  place.item["entries"] = Json::array({std::move(entry)});
  return true;
}

// A type of keys whose comparison leaves out its first field.
bool hold_fields(Place& place, const Json& hashed) {
  Json function = {{"name", "operator=="}, {"kind", "equality"}, {"uses", {"columns"}}};
  Json hash = {
      {"name", "hash"}, {"kind", "hash"}, {"uses", hashed.is_array() ? hashed : Json::array()}};
  place.item["fields"] = {"rows", "columns"};
  place.item["functions"] = Json::array({std::move(function), std::move(hash)});
  return true;
}

bool hold_part(Place& place, Json part) {
  place.item["key_parts"] = Json::array({std::move(part)});
  return true;
}

}  // namespace

std::vector<Mistake> key_mistakes() {
  return {
      key_mistake("cache-header-weak", "headers known by their time",
                  [](Place& place) {
                    place.item["headers"]["method"] = "mtime";
                    return true;
                  }),
      key_mistake("cache-header-uncovered", "a header outside of what is hashed",
                  [](Place& place) {
                    place.item["headers"]["directories"] = {"include"};
                    place.item["headers"]["included"] = {"include/tile.h", "common/half.h"};
                    return true;
                  }),
      key_mistake("cache-key-builder-reads", "flags that reach the compiler and not the key",
                  [](Place& place) {
                    place.item["key_parts"] = Json::array({{{"name", "source"}}});
                    place.item["reads"] = Json::array(
                        {{{"name", "source"}}, {{"name", "cuda_flags"}, {"input", "flags"}}});
                    return true;
                  }),
      key_mistake("cache-key-field-missing", "a field that is hashed and not compared",
                  [](Place& place) { return hold_fields(place, {"rows"}); }),
      key_mistake("cache-key-field-unused", "a field that nothing compares",
                  [](Place& place) { return hold_fields(place, {}); }),
      key_mistake("cache-key-env", "the environment is no part of the key",
                  [](Place& place) {
                    Json cache = sound_cache(place);
                    drop(cache["inputs"], "environment");
                    place.added.push_back(cache);
                    return true;
                  }),
      key_mistake("cache-key-unseparated", "fields that run into each other",
                  [](Place& place) {
                    Json cache = sound_cache(place);
                    cache["separated"] = false;
                    place.added.push_back(cache);
                    return true;
                  }),
      key_mistake("cache-key-parity", "a cache in front that knows no flags",
                  [](Place& place) {
                    Json front = sound_cache(place);
                    front["kind"] = "memory";
                    front["backs"] = place.item["name"];
                    if (!drop(front["inputs"], "flags")) return false;
                    place.added.push_back(front);
                    return true;
                  }),
      key_mistake(
          "cache-never-stale", "a library that is taken once it is there",
          [](Place& place) {
            place.added.push_back({{"name", "added"}, {"kind", "disk"}, {"freshness", {"none"}}});
            return true;
          }),
      key_mistake("key-argument-unknown", "an argument that was renamed",
                  [](Place& place) {
                    place.item["arguments"] = {"rows", "columns"};
                    place.item["key_parts"] = Json::array({{{"name", "row"}}});
                    return true;
                  }),
      key_mistake("tuned-in-place", "a kernel that is tuned on what it changes",
                  [](Place& place) {
                    place.item["tested"] = 4;
                    place.item["in_place"] = {"x"};
                    return true;
                  }),
      key_mistake("key-mtime-only", "entries judged by their time",
                  [](Place& place) {
                    place.item["freshness"] = {"mtime"};
                    return true;
                  }),
      key_mistake("key-unstable-part", "the address of a function in the key",
                  [](Place& place) {
                    place.item["parameters"].push_back("id(function)");
                    return true;
                  }),
      key_mistake("key-machine-part", "the place of a toolkit in the key",
                  [](Place& place) {
                    return hold_part(place, {{"name", "cuda"}, {"value", "/usr/local/cuda"}});
                  }),
      key_mistake("key-arch-truncated", "two architectures, one text in the key",
                  [](Place& place) {
                    return hold_part(place, {{"name", "capability"},
                                             {"input", "architecture"},
                                             {"values", {{"sm_120", "12"}, {"sm_121", "12"}}}});
                  }),
      key_mistake("plan-key-blind", "a buffer bound that the key lacks",
                  [](Place& place) {
                    place.item["binds"] = {"source", "key_value_allocation"};
                    return true;
                  }),
      key_mistake("cache-key-mismatch", "an entry under another key",
                  [](Place& place) {
                    return hold_entry(place, {{"key", "0b31f62c9d5e4a70"},
                                              {"recomputed_key", "0b31f62c9d5e4a71"}});
                  }),
      key_mistake("cache-entry-broken", "a library that was cut off",
                  [](Place& place) {
                    return hold_entry(
                        place,
                        {{"library", "mv.so"}, {"missing", Json::array()}, {"damaged", {"mv.so"}}});
                  }),
      key_mistake("cache-entry-broken", "a library that is gone",
                  [](Place& place) {
                    return hold_entry(place, {{"missing", {"mv.so"}}, {"damaged", Json::array()}});
                  }),
      key_mistake("cache-entry-unused", "a temporary file left behind",
                  [](Place& place) {
                    return hold_entry(place, {{"temporary", {".mv.4711.tmp.so"}}});
                  }),
  };
}

}  // namespace opseal::test
