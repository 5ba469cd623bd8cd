#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

constexpr const char* table = "libraries";

// A handler that gets the operands, exported under a name of its own, and a target that registers
// it.
Json* register_handler(Place& place) {
  for (Json& handler : place.item["handlers"]) {
    const bool plain = text_of(handler, "stage") == "execute" && !has(handler, "ambiguous");
    if (!plain || !has(handler, "contexts")) continue;
    const std::string symbol = text_of(handler, "function") + "Handler";
    handler["symbol"] = symbol;
    place.item["exports"].push_back({{"name", symbol}, {"kind", "function"}});
    place.beside["targets"] = Json::array({{{"name", "pkg." + symbol},
                                            {"platform", "CUDA"},
                                            {"symbol", symbol},
                                            {"library", place.item["path"]}}});
    return &handler;
  }
  return nullptr;
}

bool register_last_stage(Place& place) {
  if (!has_items(place.item, "handlers") || register_handler(place) == nullptr) return false;
  Json& target = place.beside["targets"].front();
  target["stages"] = Json::array({"execute"});
  const std::string name = text_of(target, "symbol") + "Initialize";
  place.item["handlers"].push_back({{"symbol", name}, {"stage", "initialize"}});
  place.item["exports"].push_back({{"name", name}, {"kind", "function"}});
  return true;
}

bool register_without_state(Place& place) {
  Json* handler = has_items(place.item, "handlers") ? register_handler(place) : nullptr;
  if (handler == nullptr) return false;
  place.beside["targets"].front()["stages"] = Json::array({"execute"});
  (*handler)["contexts"].push_back("state<pkg::Plan>");
  return true;
}

// What the handler binds, in the words of a spec.
Json spec_of(const Json& handler) {
  Json spec = Json::array();
  for (std::size_t i = 0; i < at(handler, "arguments").size(); ++i) spec.push_back("arg");
  for (std::size_t i = 0; i < at(handler, "results").size(); ++i) spec.push_back("ret");
  for (const Json& type : at(handler, "attributes")) {
    spec.push_back("attr.a" + std::to_string(spec.size()) + ':' + type.get<std::string>());
  }
  if (holds(at(handler, "contexts"), "stream")) spec.push_back("stream");
  return spec;
}

bool has_plain(const Json& operands) {
  for (const Json& operand : operands) {
    if (at(operand, "variadic") == true || at(operand, "optional") == true) return false;
  }
  return true;
}

// A spec that was written before the handler got another argument.
bool forget_argument(Place& place) {
  Json* handler = has_items(place.item, "handlers") ? register_handler(place) : nullptr;
  if (handler == nullptr || !has_items(*handler, "arguments")) return false;
  if (!has_plain((*handler)["arguments"]) || !has_plain((*handler)["results"])) return false;
  Json spec = spec_of(*handler);
  spec.erase(0);
  place.beside["targets"].front()["spec"] = std::move(spec);
  return true;
}

bool forget_stream(Place& place) {
  Json* handler = has_items(place.item, "handlers") ? register_handler(place) : nullptr;
  if (handler == nullptr) return false;
  Json spec = spec_of(*handler);
  if (!drop(spec, "stream")) return false;
  place.beside["targets"].front()["spec"] = std::move(spec);
  return has_plain((*handler)["arguments"]) && has_plain((*handler)["results"]);
}

// The headers of a release later than the oldest that the package allows.
bool build_with_newer_headers(Place& place) {
  if (!has_items(place.item, "handlers") || !has(place.manifest, "distribution")) return false;
  bool told = false;
  for (Json& handler : place.item["handlers"]) {
    if (!has(handler, "api_versions")) continue;
    handler["api_versions"] = {{"min", "0.3"}};
    told = true;
  }
  Json package = place.manifest["distribution"];
  package["requires"].push_back("jaxlib>=0.8.1");
  place.beside["distribution"] = std::move(package);
  return told;
}

bool register_with_older_runtime(Place& place) {
  if (!has(place.item, "ffi_version")) return false;
  place.beside["producer"] = {{"packages", {{"jaxlib", "0.4.31"}}}};
  place.item["ffi_version"] = {{"major", 0}, {"minor", 3}};
  return true;
}

// The library that a copied part of another one was put into.
Json torch_library(const Place& place, Json registrar) {
  const std::string path = text_of(place.item, "path");
  return {{"path", path.substr(0, path.rfind('/') + 1) + "libcopied_operators.so"},
          {"format", "elf"},
          {"registrars", Json::array({std::move(registrar)})}};
}

Json* torch_registrar(Place& place, std::string_view kind) {
  if (!has_items(place.item, "registrars")) return nullptr;
  for (Json& registrar : place.item["registrars"]) {
    if (text_of(registrar, "system") == "torch" && text_of(registrar, "kind") == kind) {
      return &registrar;
    }
  }
  return nullptr;
}

bool define_again(Place& place) {
  Json* registrar = torch_registrar(place, "fragment");
  if (registrar == nullptr || !has_items(*registrar, "schemas")) return false;
  Json copy = *registrar;
  copy["schemas"] = Json::array({any_of((*registrar)["schemas"], place.random)});
  place.added.push_back(torch_library(place, std::move(copy)));
  return true;
}

bool own_again(Place& place) {
  Json* registrar = torch_registrar(place, "fragment");
  if (registrar == nullptr) return false;
  (*registrar)["kind"] = "definition";
  Json copy = *registrar;
  copy.erase("schemas");
  place.added.push_back(torch_library(place, std::move(copy)));
  return true;
}

bool misspell_namespace(Place& place) {
  Json* registrar = torch_registrar(place, "implementation");
  if (registrar == nullptr) return false;
  const std::string space = text_of(*registrar, "namespace");
  // Too short to be held against others.
  if (space.size() < 6) return false;
  Json owner = *registrar;
  owner["kind"] = "fragment";
  owner.erase("platform");
  place.added.push_back(torch_library(place, std::move(owner)));
  for (Json& each : place.item["registrars"]) {
    if (text_of(each, "kind") == "implementation")
      each["namespace"] = space.substr(0, space.size() - 1);
  }
  return true;
}

}  // namespace

std::vector<Mistake> handler_mistakes() {
  return {
      {"handler-stage-lost", "the last of two handlers", register_last_stage, table},
      {"handler-stage-lost", "a handler whose state nobody makes", register_without_state, table},
      {"spec-signature-mismatch", "an argument that the spec forgot", forget_argument, table},
      {"spec-signature-mismatch", "a stream that the spec forgot", forget_stream, table},
      {"api-version-skew", "headers newer than the package allows", build_with_newer_headers,
       table},
      {"api-version-skew", "a target built for a newer runtime", register_with_older_runtime,
       "targets"},
      {"registrar-duplicate-definer", "an operator defined in a second library", define_again,
       table},
      {"registrar-duplicate-definer", "two owners of a namespace", own_again, table},
      {"namespace-wrong", "kernels for a misspelled namespace", misspell_namespace, table},
  };
}

}  // namespace opseal::test
