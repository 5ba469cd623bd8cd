#include <set>
#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

// A platform for which the operator has kernels of two backends or more, or empty.
std::string contested_platform(const Json& op) {
  std::set<std::string> seen;
  for (const Json& kernel : at(op, "kernels")) {
    if (!has(kernel, "backend")) continue;
    const std::string platform = kernel["platform"];
    if (seen.contains(platform)) return platform;
    seen.insert(platform);
  }
  return {};
}

// A platform of the registry that some operator neither serves nor answers with a stub, or empty.
std::string platform_not_everywhere(const Json& manifest) {
  for (const Json& platform : at(manifest, "platforms")) {
    for (const Json& op : manifest["operators"]) {
      bool served = !has_items(op, "kernels");
      for (const Json& kernel : at(op, "kernels")) {
        served = served || kernel["platform"] == platform || kernel["platform"] == "any";
      }
      for (const Json& stub : at(op, "stub_platforms")) served = served || stub == platform;
      if (!served) return platform;
    }
  }
  return {};
}

// Registries in which every operator is to have a kernel.
bool promises_kernels(const Json& manifest) {
  const std::string system = manifest["system"];
  return system == "brainevent" || system == "ggml" || system == "executorch";
}

Json place_of(const char* file, int line) { return {{"file", file}, {"line", line}}; }

// Another kernel beside the first, which its table doesn't list.
bool add_unlisted(Place& place, bool declared) {
  if (!has_items(place.item, "kernels")) return false;
  Json kernel = {{"platform", place.item["kernels"].front()["platform"]}, {"listed", false}};
  if (declared) {
    kernel["witnesses"] = {"declared"};
  } else {
    place.item["kernels"].front()["listed"] = true;
  }
  place.item["kernels"].push_back(std::move(kernel));
  return true;
}

}  // namespace

std::vector<Mistake> registration_mistakes() {
  return {
      {"name-alias", "another variable than the name says",
       [](Place& place) {
         if (!has_items(place.item, "aliases")) return false;
         place.item["aliases"] = {"unrelated_variable"};
         return true;
       }},
      {"name-charset", "a letter that no symbol can have",
       [](Place& place) {
         place.item["name"] = place.item["name"].get<std::string>() + "\u00e9";
         return true;
       }},
      {"name-duplicate", "one name registered in a second place",
       [](Place& place) {
         if (!has(place.item, "location")) return false;
         place.added.push_back(place.item);
         place.added.back()["location"] = place_of("elsewhere/again.py", 7);
         return true;
       },
       "registrations"},
      {"default-unregistered", "a default that nobody registered",
       [](Place& place) {
         if (!has(place.item, "defaults") || place.item["defaults"].empty()) return false;
         place.item["defaults"].front() = "no_such_backend";
         return true;
       }},
      {"default-missing", "no default where two backends compete",
       [](Place& place) {
         const std::string platform = contested_platform(place.item);
         // There the first one registered is the default.
         if (place.manifest["system"] == "brainevent") return false;
         if (platform.empty() || !has(place.item, "defaults")) return false;
         return place.item["defaults"].erase(platform) > 0;
       }},
      {"global-backend-unusable", "a global backend that no operator has",
       [](Place& place) {
         if (!has(place.item, "global_backends")) return false;
         place.item["global_backends"]["cpu"] = "no_such_backend";
         return true;
       },
       ""},
      {"platform-empty", "a platform promised and not served",
       [](Place& place) {
         const std::string platform = platform_not_everywhere(place.manifest);
         if (platform.empty()) return false;
         place.item["required_platforms"] = {platform};
         return true;
       },
       ""},
      {"stub-lowering", "a stub where a kernel is registered",
       [](Place& place) {
         if (!has_items(place.item, "kernels") || !has(place.item, "stub_platforms")) return false;
         place.item["stub_platforms"] = Json::array({place.item["kernels"].front()["platform"]});
         return true;
       }},
      {"stored-name-mismatch", "a plugin that is stored under another name",
       [](Place& place) {
         if (!has_items(place.item, "kernels")) return false;
         any_of(place.item["kernels"], place.random)["built"] = {
             {"name", place.item["name"].get<std::string>() + "_other"},
             {"function", {{"name", "Plugin"}}}};
         return true;
       }},
      {"field-type-mismatch", "a plugin that reads a flag as a long number",
       [](Place& place) {
         if (!has_items(place.item, "kernels")) return false;
         Json& kernel = any_of(place.item["kernels"], place.random);
         kernel["attributes"] = Json::array({{{"name", "keep"}, {"type", "i32"}}});
         kernel["values"] = {{"keep", "i64"}};
         return true;
       }},
      {"field-undeclared", "a plugin that looks for a field it doesn't declare",
       [](Place& place) {
         if (!has_items(place.item, "kernels")) return false;
         Json& kernel = any_of(place.item["kernels"], place.random);
         kernel["attributes"] = Json::array({{{"name", "axis"}}});
         kernel["reads"] = Json::array({"axis", "bias"});
         return true;
       }},
      {"stored-fields-mismatch", "a plugin that stores more than it counts",
       [](Place& place) {
         if (!has_items(place.item, "kernels")) return false;
         any_of(place.item["kernels"], place.random)["built"] = {
             {"function", {{"name", "Plugin"}}},
             {"fields", Json::array({"axis"})},
             {"writes", Json::array({"axis", "scale"})}};
         return true;
       }},
      {"dispatch-empty", "every kernel lost",
       [](Place& place) {
         if (!promises_kernels(place.manifest) || !has_items(place.item, "kernels")) return false;
         if (has(place.manifest, "devices")) return false;
         place.item["kernels"] = Json::array();
         return true;
       }},
      {"table-unlisted", "a kernel declared and in no table",
       [](Place& place) { return add_unlisted(place, true); }},
      {"table-unlisted-variant", "a kernel in no table",
       [](Place& place) { return add_unlisted(place, false); }},
      {"duplicate-kernel-at-key", "the kernel of a second package at one key",
       [](Place& place) {
         if (!has_items(place.item, "kernels")) return false;
         Json& kernel = any_of(place.item["kernels"], place.random);
         if (kernel["platform"] == "Meta" || has(kernel, "fallthrough")) return false;
         if (!kernel.value("active", true)) return false;
         kernel["package"] = "one";
         Json second = kernel;
         second["package"] = "other";
         second["location"] = place_of("other/kernels.cpp", 7);
         place.item["kernels"].push_back(std::move(second));
         return true;
       }},
      {"platform-spelling", "a kernel under another spelling of a platform",
       [](Place& place) {
         // There letter case is no spelling.
         if (place.manifest["system"] == "executorch") return false;
         if (!has_items(place.manifest, "platforms")) return false;
         for (Json& kernel : place.item["kernels"]) {
           if (kernel["platform"] != "cpu" && kernel["platform"] != "CPU") continue;
           kernel["platform"] = "Cpu";
           return true;
         }
         return false;
       }},
  };
}

}  // namespace opseal::test
