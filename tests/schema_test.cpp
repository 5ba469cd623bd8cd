#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "cli/config.h"
#include "cli/schemas.h"
#include "opseal/form.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

using nlohmann::json;
using Used = std::set<std::pair<const Form*, Key>>;

// Marks the keys that a fact says under its form.
void mark(const Form& form, const Fact& fact, Used& used) {
  for (const Field& field : form.fields) {
    const Fact member = fact[field.key];
    if (!member.said()) continue;
    if (!member.is_null()) used.insert({&form, field.key});
    mark(*field.form, member, used);
  }
  if (form.item != nullptr) {
    for (const Fact item : fact.items()) {
      if (fact.is_list()) mark(*form.item, item, used);
    }
  }
  if (form.map_value != nullptr) {
    for (const auto& [name, value] : fact.entries()) mark(*form.map_value, value, used);
  }
}

void collect(const Form& form, void* context) {
  static_cast<std::vector<const Form*>*>(context)->push_back(&form);
}

void check_references(const json& value, const json& definitions) {
  if (value.is_object() && value.contains("$ref")) {
    const std::string target = value["$ref"];
    // The manifest itself.
    if (target == "#") return;
    CHECK_MESSAGE(definitions.contains(target.substr(std::string("#/$defs/").size())), target);
  }
  if (!value.is_structured()) return;
  for (const json& member : value) check_references(member, definitions);
}

}  // namespace

TEST_CASE("every-key.json says every key of the format") {
  const Facts facts = read_text(read_file(source_dir() / "fixtures/_whole/every-key.json"));
  REQUIRE(facts.problems.empty());
  Used used;
  mark(manifest_form, facts.root(facts.documents.front()), used);
  std::vector<const Form*> forms;
  for_each_named_form(manifest_form, collect, &forms);
  for (const Form* form : forms) {
    for (const Field& field : form->fields) {
      const std::string place = std::string(form->name) + '.' + std::string(to_text(field.key));
      CHECK_MESSAGE(used.contains({form, field.key}), place);
    }
  }
  CHECK(forms.size() > 30);
}

TEST_CASE("the schema of the manifest defines each named form and what it refers to") {
  const json schema = json::parse(manifest_schema());
  std::vector<const Form*> forms;
  for_each_named_form(manifest_form, collect, &forms);
  const json& definitions = schema["$defs"];
  // The manifest itself is the root.
  CHECK(definitions.size() + 1 == forms.size());
  check_references(schema, definitions);
  CHECK(schema["required"] == json::array({"opseal_manifest"}));
  CHECK(schema["additionalProperties"] == false);
  CHECK(definitions["Function"]["type"] == json::array({"object", "null"}));
}

TEST_CASE("the schema of the report defines what it refers to") {
  const json schema = json::parse(report_schema());
  check_references(schema, schema["$defs"]);
}

TEST_CASE("the schema of the configuration has the keys that are read") {
  const json schema = json::parse(config_schema());
  CHECK(schema["properties"].size() == config_key_names().size());
  for (const std::string_view key : config_key_names()) {
    CHECK_MESSAGE(schema["properties"].contains(std::string(key)), key);
  }
}

}  // namespace opseal::test
