#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

Mistake cache_mistake(const char* rule, const char* what, bool (*make)(Place&)) {
  return {rule, what, make, "caches"};
}

}  // namespace

std::vector<Mistake> cache_mistakes() {
  return {
      cache_mistake("cache-key-incomplete", "the source is no part of the key",
                    [](Place& place) {
                      return has(place.item, "inputs") && drop(place.item["inputs"], "source");
                    }),
      cache_mistake("cache-key-incomplete", "the architecture is no part of the key",
                    [](Place& place) {
                      return has(place.item, "inputs") &&
                             drop(place.item["inputs"], "architecture");
                    }),
      cache_mistake("cache-key-schema", "no version constant in the key",
                    [](Place& place) {
                      if (!has(place.item, "schema")) return false;
                      place.item["schema"] = nullptr;
                      return true;
                    }),
      cache_mistake("cache-temp-collision", "threads share a temporary name",
                    [](Place& place) {
                      return has(place.item, "temporary_name") &&
                             drop(place.item["temporary_name"], "uuid");
                    }),
      cache_mistake("cache-suffix-hardcoded", "look-up by the suffix of one system",
                    [](Place& place) {
                      place.item["suffix"] = "platform";
                      place.item["names"] = {".so"};
                      return true;
                    }),
      cache_mistake("cache-prefix-bleed", "look-up by prefix",
                    [](Place& place) {
                      place.item["match"] = "prefix";
                      place.item["entries"] = {{{"name", "add"}}, {{"name", "add_fast"}}};
                      return true;
                    }),
  };
}

}  // namespace opseal::test
