#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// The operator that a dispatch record is for, or an empty value.
const Json& operator_of(const Place& place) {
  for (const Json& op : at(place.manifest, "operators")) {
    if (op["name"] == place.item["operator"]) return op;
  }
  return at(Json(), "");
}

// A table of the item's kinds without its first `skipped` ones, under no predicate.
Json table_alone(const Json& dispatch, const std::string& op, std::size_t skipped) {
  Json entries = Json::array();
  for (std::size_t at = skipped; at < dispatch["kinds"].size(); ++at) {
    const std::string kind = dispatch["kinds"][at];
    entries.push_back({{"kind", kind}, {"kernel", op + "_" + kind}});
  }
  return {{"operator", op},
          {"kinds", dispatch["kinds"]},
          {"table", {{"name", "switch_" + op}, {"entries", entries}, {"default", nullptr}}}};
}

Json look_up(const Json& name, const char* platform) {
  return {{{"operator", name}, {"lookups", {{{"operator", name}, {"platform", platform}}}}}};
}

bool is_dispatch_free(const Place& place) { return !has_items(place.manifest, "dispatch"); }

// The only operator or target of its name.
bool is_only_bearer(const Place& place) {
  std::size_t bearers = 0;
  for (const char* list : {"operators", "targets"}) {
    for (const Json& item : at(place.manifest, list)) {
      bearers += item["name"] == place.item["name"] ? 1 : 0;
    }
  }
  return bearers == 1;
}

Mistake dispatch_mistake(const char* rule, const char* what, bool (*make)(Place&)) {
  return {rule, what, make, "dispatch"};
}

}  // namespace

std::vector<Mistake> predicate_mistakes() {
  return {
      {"predicate-overclaims", "a dtype claimed that fails",
       [](Place& place) {
         if (!is_system(place, "ggml")) return false;
         Json& kernel = place.item["kernels"].front();
         const Json dtype = any_of(kernel["dtypes"], place.random);
         if (holds(kernel["failed"], dtype)) return false;
         kernel["failed"].push_back(dtype);
         return true;
       }},
      dispatch_mistake("predicate-underclaims", "a kind refused that a kernel takes",
                       [](Place& place) {
                         if (!has_items(at(place.item, "predicate"), "kinds")) return false;
                         const Json& kernels = at(operator_of(place), "kernels");
                         if (kernels.empty()) return false;
                         const Json& kernel = kernels.front();
                         for (const Json& kind : Json(place.item["predicate"]["kinds"])) {
                           if (!holds(at(kernel, "dtypes"), kind)) continue;
                           if (holds(at(kernel, "failed"), kind)) continue;
                           drop(place.item["predicate"]["kinds"], kind);
                           place.item["predicate"]["refused"].push_back(kind);
                           return true;
                         }
                         return false;
                       }),
      dispatch_mistake("allowlist-stale", "an exception for a kind that there is no more",
                       [](Place& place) {
                         if (!has_items(place.item, "kinds")) return false;
                         place.item["exceptions"] = {{{"kind", "q4_2"}, {"reason", "not yet"}}};
                         return true;
                       }),
      dispatch_mistake("coverage-empty", "an enumeration of nothing",
                       [](Place& place) {
                         place.item["kinds"] = Json::array();
                         return true;
                       }),
      dispatch_mistake("coverage-empty", "a record for a misspelt operator",
                       [](Place& place) {
                         std::string name = text_of(place.item, "operator");
                         if (name.size() < 6) return false;
                         name.erase(2, 1);
                         place.item["operator"] = name;
                         return true;
                       }),
      dispatch_mistake("enum-consumer-missed", "a kind forgotten in one of two switches",
                       [](Place& place) {
                         if (!has_items(place.item, "kinds")) return false;
                         const std::string name = text_of(place.item, "operator");
                         place.added.push_back(table_alone(place.item, "copy_of_" + name, 0));
                         place.item = table_alone(place.item, name, 1);
                         return true;
                       }),
      {"lookup-unregistered", "a misspelt operator looked up",
       [](Place& place) {
         const std::string name = text_of(place.item, "name");
         if (!is_dispatch_free(place) || name.size() < 6) return false;
         place.beside["dispatch"] = look_up(name + "_misspelt", "cpu");
         return true;
       }},
      {"lookup-unregistered", "a platform looked up that nothing is registered for",
       [](Place& place) {
         if (!is_dispatch_free(place) || !is_only_bearer(place)) return false;
         if (!is_system(place, "brainevent") || !has_items(place.item, "kernels")) return false;
         for (const Json& kernel : place.item["kernels"]) {
           if (kernel["platform"] == "tpu" || kernel["platform"] == "any") return false;
         }
         place.beside["dispatch"] = look_up(place.item["name"], "tpu");
         return true;
       }},
      {"registry-duplicate-runtime", "a handler of one runtime looked up in another",
       [](Place& place) {
         if (!is_dispatch_free(place) || !is_only_bearer(place)) return false;
         if (text_of(place.item, "platform") != "cpu") return false;
         place.beside["dispatch"] = look_up(place.item["name"], "CUDA");
         return true;
       },
       "targets"},
  };
}

}  // namespace opseal::test
