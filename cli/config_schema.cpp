// The schema of `opseal.toml`, for editors that hold a TOML file against a JSON Schema.

#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/schemas.h"

namespace opseal {
namespace {

using nlohmann::ordered_json;

enum class Shape {
  texts,
  profile,
  fail_on,
  tier,
  severities,
  silences,
  joins,
  caches,
  macros,
  pairs
};

struct ConfigKey {
  std::string_view name;
  Shape shape;
  std::string_view meaning;
};

// Needs: what cli/config.cpp reads; a test holds the two together.
constexpr ConfigKey config_keys[] = {
    {"profile", Shape::profile, "how many rules run where `select` says nothing"},
    {"select", Shape::texts, "ids or globs of the rules that run, whatever their profile"},
    {"ignore", Shape::texts, "ids or globs of rules that don't run"},
    {"severity", Shape::severities, "rule id or glob = severity"},
    {"fail-on", Shape::fail_on, "lowest severity that makes the exit code 1"},
    {"exclude", Shape::texts, "globs of paths that are not read"},
    {"platforms", Shape::texts, "platforms that every operator must serve"},
    {"architectures", Shape::texts, "GPU architectures of the fleet, such as `sm_80`"},
    {"silence", Shape::silences, "findings and changes that are known and accepted"},
    {"join", Shape::joins,
     "name of a registration = names of the same operator in other systems; asks for the rules "
     "that compare them"},
    {"macros", Shape::macros,
     "`NAME` or `NAME(parameters)` = what this macro of C++ sources stands for, whatever they "
     "define it as"},
    {"cache", Shape::caches, "cache directories in a layout that opseal doesn't know by itself"},
    {"pair", Shape::pairs, "support predicates with the functions that they speak for"},
    {"tier", Shape::tier,
     "how C++ is read: as text, or with libclang where it is installed, which tells types"},
};

ordered_json words(std::initializer_list<const char*> list) {
  return {{"enum", ordered_json(std::vector<std::string>(list.begin(), list.end()))}};
}

ordered_json text(std::string_view meaning) {
  return {{"type", "string"}, {"minLength", 1}, {"description", meaning}};
}

ordered_json cache_schema() {
  ordered_json parts = {{"type", "array"},
                        {"description", "what the key is a hash of, one behind the other"},
                        {"items",
                         {{"type", "object"},
                          {"properties",
                           {{"text", text("the text itself")},
                            {"file", text("the bytes of the file with this path")},
                            {"digest_of", text("their digest, in hexadecimal digits")}}},
                          {"minProperties", 1},
                          {"maxProperties", 1},
                          {"additionalProperties", false}}}};
  ordered_json properties = {
      {"name", text("what findings call it")},
      {"directory", text("relative to this file, or from `~`")},
      {"entry",
       text("how an entry is called: `{name}` is any text, `{key}` the digits of its key")},
      {"library",
       text("the file in an entry that must be there; `{name}` and `{key}` are filled in")},
      {"match", words({"exact", "prefix"})},
      {"hash", words({"sha256", "xxh128"})},
      {"digits",
       {{"type", "integer"},
        {"minimum", 8},
        {"maximum", 64},
        {"description", "of the hash that stand in the key; all when it is left out"}}},
      {"parts", std::move(parts)}};
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", ordered_json::array({"name", "directory", "entry"})},
          {"additionalProperties", false}};
}

ordered_json pair_schema() {
  const ordered_json texts = {{"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}};
  const auto list = [&texts](std::string_view meaning) {
    ordered_json schema = texts;
    schema["description"] = meaning;
    return schema;
  };
  ordered_json properties = {
      {"name", text("what findings call the backend")},
      {"predicate", text("`path:function`, or the function alone")},
      {"dispatch", list("functions, named likewise; what one of them handles is handled")},
      {"noop", list("enumerators that need no kernel")},
      {"noreturn", list("functions that never return")}};
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", ordered_json::array({"name", "predicate", "dispatch"})},
          {"additionalProperties", false}};
}

ordered_json shape_schema(Shape shape) {
  switch (shape) {
    case Shape::texts:
      return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case Shape::profile:
      return words({"default", "strict", "audit"});
    case Shape::fail_on:
      return words({"error", "warning", "note", "never"});
    case Shape::tier:
      return words({"lexed", "typed"});
    case Shape::severities:
      return {{"type", "object"}, {"additionalProperties", words({"error", "warning", "note"})}};
    case Shape::silences:
      return {{"type", "array"},
              {"items",
               {{"type", "object"},
                {"properties",
                 {{"rule", text("rule id, kind of change, or glob")},
                  {"subject", text("subject or glob; every subject when it is left out")},
                  {"reason", text("why it is accepted")}}},
                {"required", ordered_json::array({"rule", "reason"})},
                {"additionalProperties", false}}}};
    case Shape::joins:
      return {{"type", "object"},
              {"additionalProperties",
               {{"type", ordered_json::array({"string", "array"})},
                {"items", {{"type", "string"}}},
                {"minItems", 1}}}};
    case Shape::macros:
      return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
    case Shape::caches:
      return {{"type", "array"}, {"items", cache_schema()}};
    case Shape::pairs:
      return {{"type", "array"}, {"items", pair_schema()}};
  }
  return {};
}

}  // namespace

std::string config_schema() {
  ordered_json properties = ordered_json::object();
  for (const ConfigKey& key : config_keys) {
    ordered_json property = shape_schema(key.shape);
    property["description"] = key.meaning;
    properties[std::string(key.name)] = std::move(property);
  }
  const ordered_json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                               {"title", "opseal.toml"},
                               {"type", "object"},
                               {"properties", std::move(properties)},
                               {"additionalProperties", false}};
  return schema.dump(2) + '\n';
}

}  // namespace opseal
