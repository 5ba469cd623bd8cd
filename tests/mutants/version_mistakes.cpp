#include <cstdint>
#include <string>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

std::uint64_t since(const Json& item) {
  return at(at(item, "versions"), "since").get<std::uint64_t>();
}

bool same_operator(const Json& a, const Json& b) {
  return a["name"] == b["name"] && text_of(a, "namespace") == text_of(b, "namespace");
}

// A version that a platform is expected to serve.
bool is_expected(const Place& place) {
  const Json& op = place.item;
  if (!has(at(op, "versions"), "since")) return false;
  for (const char* excuse : {"deprecated", "experimental", "function_body"}) {
    if (op.value(excuse, false)) return false;
  }
  const std::string domain = text_of(op, "namespace");
  const Json& released = at(at(place.manifest, "opsets"), domain.c_str());
  return !released.is_number() || since(op) <= released.get<std::uint64_t>();
}

// ONNX Runtime: an open end serves its first version.
bool serves(const Json& kernel, std::uint64_t version) {
  const Json& versions = kernel["versions"];
  const auto first = versions["since"].get<std::uint64_t>();
  if (first == version) return true;
  return first < version && has(versions, "until") &&
         version <= versions["until"].get<std::uint64_t>();
}

// Versions around that of the item that other entries of the operator serve on one of its
// platforms.
struct Around {
  bool older = false;
  bool itself = false;
  bool newer = false;
};

Around served_around(const Place& place, const Json& platform) {
  Around around;
  const std::uint64_t version = since(place.item);
  for (std::size_t at = 0; at < place.manifest["operators"].size(); ++at) {
    const Json& other = place.manifest["operators"][at];
    if (at == place.index || !same_operator(other, place.item)) continue;
    for (const Json& kernel : opseal::test::at(other, "kernels")) {
      if (kernel["platform"] != platform) continue;
      around.itself = around.itself || serves(kernel, version);
      if (!serves(kernel, since(other))) continue;
      (since(other) < version ? around.older : around.newer) = true;
    }
  }
  return around;
}

// Loses all kernels of a version that nothing else serves, where others of the operator are served.
bool lose_version(Place& place, bool newest) {
  if (!is_system(place, "onnxruntime") || !has_items(place.item, "kernels")) return false;
  if (!is_expected(place) || has(place.item["versions"], "until") == newest) return false;
  bool alone = false;
  for (const Json& kernel : place.item["kernels"]) {
    const Around around = served_around(place, kernel["platform"]);
    alone = alone || (around.older && around.newer != newest && !around.itself);
  }
  if (alone) place.item["kernels"] = Json::array();
  return alone;
}

// The kernel of a later version that takes the same.
const Json* next_kernel(const Place& place, const Json& kernel) {
  const Json* next = nullptr;
  for (const Json& other : place.manifest["operators"]) {
    if (!same_operator(other, place.item)) continue;
    for (const Json& later : at(other, "kernels")) {
      if (later["platform"] != kernel["platform"]) continue;
      if (later["type_constraints"] != kernel["type_constraints"]) continue;
      if (since(later) <= kernel["versions"]["until"].get<std::uint64_t>()) continue;
      // Only a version at which the schema changed is ever looked up.
      if (since(later) != since(other)) continue;
      if (next == nullptr || since(later) < since(*next)) next = &later;
    }
  }
  return next;
}

bool is_only_entry(const Place& place) {
  std::size_t entries = 0;
  for (const Json& other : place.manifest["operators"]) {
    entries += same_operator(other, place.item) ? 1 : 0;
  }
  return entries == 1;
}

}  // namespace

std::vector<Mistake> version_mistakes() {
  return {
      {"version-behind", "no kernel for the newest version",
       [](Place& place) { return lose_version(place, true); }},
      {"version-range-gap", "no kernel for a version in the middle",
       [](Place& place) { return lose_version(place, false); }},
      {"version-range-overlap", "a range that reaches into the next one",
       [](Place& place) {
         if (!is_system(place, "onnxruntime")) return false;
         for (Json& kernel : place.item["kernels"]) {
           if (!has(kernel["versions"], "until")) continue;
           const Json* next = next_kernel(place, kernel);
           if (next == nullptr) continue;
           kernel["versions"]["until"] = since(*next);
           return true;
         }
         return false;
       }},
      {"version-provider-skew", "one of two platforms goes on, and no schema version is stated",
       [](Place& place) {
         if (!is_system(place, "onnxruntime") || !has_items(place.item, "kernels")) return false;
         if (!is_only_entry(place)) return false;
         for (Json& kernel : place.item["kernels"]) {
           if (kernel["platform"] == place.item["kernels"].front()["platform"]) continue;
           place.item.erase("versions");
           kernel["versions"]["until"] = since(kernel) + 50;
           return true;
         }
         return false;
       }},
  };
}

}  // namespace opseal::test
