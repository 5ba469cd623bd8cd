// `opseal schema NAME`: JSON Schemas, draft 2020-12. That of the manifest is made from the very
// forms that the reader checks against, so that the two can't say different things.

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/schemas.h"
#include "cli/settings.h"
#include "opseal/form.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using nlohmann::ordered_json;

constexpr char dialect[] = "https://json-schema.org/draft/2020-12/schema";

ordered_json schema_of(const Form& form);

// A named form is written once and referred to.
ordered_json reference_to(const Form& form) {
  if (form.name.empty()) return schema_of(form);
  return {{"$ref", "#/$defs/" + std::string(form.name)}};
}

void add_fields(const Form& form, ordered_json& schema) {
  ordered_json properties = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const Field& field : form.fields) {
    ordered_json property = reference_to(*field.form);
    if (!field.meaning.empty()) property["description"] = field.meaning;
    properties[std::string(to_text(field.key))] = std::move(property);
    if (field.required && !field.may_be_undecided) required.push_back(to_text(field.key));
  }
  schema["properties"] = std::move(properties);
  schema["patternProperties"] = {{"^x-", true}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
}

// Every keyword but `enum` speaks of one type and lets the others pass, so the types that a form
// allows stand side by side in one schema; words get one of their own.
ordered_json schema_of(const Form& form) {
  ordered_json types = ordered_json::array();
  ordered_json schema = ordered_json::object();
  schema["type"] = nullptr;
  if (form.text && form.words.empty()) types.push_back("string");
  if (form.count || form.real) types.push_back(form.real ? "number" : "integer");
  if (form.count && !form.real) {
    schema["minimum"] = form.minimum;
    schema["maximum"] = form.maximum;
  }
  if (form.not_negative) schema["minimum"] = 0;
  if (form.truth) types.push_back("boolean");
  if (form.item != nullptr) {
    types.push_back("array");
    schema["items"] = reference_to(*form.item);
  }
  if (!form.fields.empty()) {
    types.push_back("object");
    add_fields(form, schema);
  } else if (form.map_value != nullptr) {
    types.push_back("object");
    schema["additionalProperties"] = reference_to(*form.map_value);
  }
  if (form.null) types.push_back("null");
  schema["type"] = types.size() == 1 ? types.front() : types;
  if (form.words.empty()) return schema;
  const ordered_json words = {{"enum", form.words}};
  if (types.empty()) return words;
  return {{"anyOf", ordered_json::array({words, std::move(schema)})}};
}

void add_definition(const Form& form, void* context) {
  if (&form == &manifest_form) return;
  (*static_cast<ordered_json*>(context))[std::string(form.name)] = schema_of(form);
}

}  // namespace

std::string manifest_schema() {
  ordered_json definitions = ordered_json::object();
  for_each_named_form(manifest_form, add_definition, &definitions);
  ordered_json schema = {
      {"$schema", dialect},
      {"title", "opseal registration manifest, version " + std::to_string(manifest_version)},
      {"description",
       "What a system says about its operators, kernels and targets. A key that is missing was not "
       "said; null, [] and {} say that there is none."}};
  schema.update(schema_of(manifest_form));
  // What a folder says of several systems is a list of them.
  schema["type"] = {"object", "array"};
  schema["items"] = {{"$ref", "#"}, {"type", "object"}};
  // Only what was read from sources may leave a kernel's platform out.
  const ordered_json kernels = {{"items", {{"required", {"platform"}}}}};
  const ordered_json operators = {{"items", {{"properties", {{"kernels", kernels}}}}}};
  schema["if"] = {{"not", {{"required", {"tree"}}}}};
  schema["then"] = {{"properties", {{"operators", operators}}}};
  schema["$defs"] = std::move(definitions);
  return schema.dump(2) + '\n';
}

int print_schema(const Options& options) {
  struct Schema {
    std::string_view name;
    std::string (*text)();
  };
  static constexpr Schema schemas[] = {
      {"manifest", manifest_schema}, {"report", report_schema}, {"config", config_schema}};
  std::vector<std::string> names;
  for (const Schema& schema : schemas) {
    if (schema.name == options.name) {
      std::cout << schema.text();
      return 0;
    }
    names.emplace_back(schema.name);
  }
  throw UsageError("no schema " + quote(options.name) + "; there are: " + quote_list(names));
}

}  // namespace opseal
