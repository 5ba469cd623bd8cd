#include <cstddef>
#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// The thing has a number in its name, another one in each dump.
void number_name(Place& place) {
  const std::string name = text_of(place.item, "name");
  place.before["name"] = name + "_7";
  place.item["name"] = name + "_8";
}

bool has_own_place(const Place& place) {
  if (!has(at(place.item, "location"), "line")) return false;
  std::size_t here = 0;
  for (const Json& op : at(place.manifest, "operators")) {
    here += at(op, "location") == place.item["location"] ? 1 : 0;
  }
  return here == 1;
}

void give_symbol(Place& place) {
  place.item["symbol"] = "handler_of_" + text_of(place.item, "name");
  place.before["symbol"] = place.item["symbol"];
}

std::size_t kernels_on(const Json& op, const Json& platform) {
  std::size_t kernels = 0;
  for (const Json& kernel : op["kernels"]) kernels += kernel["platform"] == platform ? 1 : 0;
  return kernels;
}

// Takes one dtype out of the only kernel of a platform.
bool narrow(Json& kernel, Random& random) {
  if (has_items(kernel, "dtypes")) {
    Json& dtypes = kernel["dtypes"];
    const std::size_t at = random() % dtypes.size();
    const Json& lost = dtypes[at];
    if (dtypes.size() < 2 || holds(opseal::test::at(kernel, "failed"), lost)) return false;
    dtypes.erase(at);
    return true;
  }
  if (!has(kernel, "type_constraints")) return false;
  for (Json& list : kernel["type_constraints"]) {
    if (list.size() < 2) continue;
    list.erase(random() % list.size());
    return true;
  }
  return false;
}

bool gives_tangents(const Json& jvp) {
  if (jvp["kind"] != "per_input") return true;
  for (const Json& rule : jvp["rules"]) {
    if (!rule.is_null()) return true;
  }
  return false;
}

// A kernel that serves whatever else the operator has none for.
bool serves_others(const Json& op) {
  for (const Json& kernel : op["kernels"]) {
    const std::string platform = kernel["platform"];
    if (platform == "any" || platform.starts_with("Composite")) return true;
  }
  return false;
}

}  // namespace

std::vector<Mistake> diff_mistakes() {
  return {
      {"name-drift", "an operator named by a counter",
       [](Place& place) {
         if (!has_own_place(place)) return false;
         number_name(place);
         return true;
       }},
      {"name-drift", "a target named by a counter",
       [](Place& place) {
         give_symbol(place);
         number_name(place);
         return true;
       },
       "targets"},
      {"name-content-collision", "another content under a name made from content",
       [](Place& place) {
         for (Json* item : {&place.before, &place.item}) (*item)["name_from"] = "content";
         place.before["content"] = "5f0e8c1d2b3a4968";
         place.item["content"] = "0b31f62c9d5e4a70";
         return true;
       },
       "targets"},
      {"python-version-name", "a target named by its bytecode",
       [](Place& place) {
         if (!has(at(place.manifest, "producer"), "python")) return false;
         give_symbol(place);
         number_name(place);
         place.beside["producer"] = place.manifest["producer"];
         place.beside["producer"]["python"] = "3.12.1";
         return true;
       },
       "targets"},
      {"python-version-name", "an operator named by its bytecode",
       [](Place& place) {
         if (!has(at(place.manifest, "producer"), "python") || !has_own_place(place)) return false;
         number_name(place);
         place.beside["producer"] = place.manifest["producer"];
         place.beside["producer"]["python"] = "3.12.1";
         return true;
       }},
      {"precision-overwritten", "a bound claimed where an audit found none",
       [](Place& place) {
         if (!has_items(place.item, "kernels")) return false;
         place.before["kernels"][0]["precision"] = nullptr;
         place.item["kernels"][0]["precision"] = {{"max_ulp", 1}};
         return true;
       }},
      {"dtype-narrowed", "a dtype lost",
       [](Place& place) {
         if (!has_items(place.item, "kernels") || place.item.value("function_body", false)) {
           return false;
         }
         for (Json& kernel : place.item["kernels"]) {
           if (kernels_on(place.item, kernel["platform"]) == 1 && narrow(kernel, place.random)) {
             return true;
           }
         }
         return false;
       }},
      {"platform-lost", "the kernels of one platform lost",
       [](Place& place) {
         if (!has_items(place.item, "kernels") || serves_others(place.item)) return false;
         if (place.item.value("function_body", false)) return false;
         for (const char* platform : {"gpu", "CUDA", "CUDAExecutionProvider"}) {
           const std::size_t lost = kernels_on(place.item, platform);
           if (lost == 0 || lost == place.item["kernels"].size()) continue;
           Json rest = Json::array();
           for (const Json& kernel : place.item["kernels"]) {
             if (kernel["platform"] != platform) rest.push_back(kernel);
           }
           place.item["kernels"] = rest;
           return true;
         }
         return false;
       }},
      {"default-changed", "another backend by default",
       [](Place& place) {
         if (!has(place.item, "defaults")) return false;
         for (const Json& kernel : at(place.item, "kernels")) {
           const std::string platform = kernel["platform"];
           const Json& backend = at(place.item["defaults"], platform.c_str());
           if (!backend.is_string() || backend == at(kernel, "backend")) continue;
           place.item["defaults"][platform] = kernel["backend"];
           return true;
         }
         return false;
       }},
      {"jvp-lost", "the rule of one input lost",
       [](Place& place) {
         Json& op = place.item;
         if (!has(op, "jvp") || op["jvp"]["kind"] != "per_input") return false;
         if (!at(op, "inputs").is_number() || has(op, "linearization")) return false;
         Json& rules = op["jvp"]["rules"];
         for (std::size_t slot = 0; slot < rules.size(); ++slot) {
           if (!rules[slot].is_object() || slot >= op["inputs"].get<std::size_t>()) continue;
           rules[slot] = nullptr;
           return true;
         }
         return false;
       }},
      {"jvp-lost", "the whole JVP lost",
       [](Place& place) {
         if (!has(place.item, "jvp") || has(place.item, "linearization")) return false;
         if (!gives_tangents(place.item["jvp"])) return false;
         place.item["jvp"] = nullptr;
         return true;
       }},
  };
}

}  // namespace opseal::test
