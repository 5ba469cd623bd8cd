#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "opseal/schema_text.h"
#include "tests/mutants/families.h"
#include "tests/mutants/unmark.h"

namespace opseal::test {
namespace {

bool has_schema(const Json& op) { return has(op, "schema") && op["schema"].is_string(); }

// torch writes `_0`, `_1` for what it inferred: such a schema has no marks.
bool is_inferred(const Json& op) { return text_of(op, "schema").find(" _0") != std::string::npos; }

bool in_torch(const Place& place) {
  return is_system(place, "torch") && has_schema(place.item) && !is_inferred(place.item);
}

// `lib::scale.out`: where the base name begins, and where it ends.
std::size_t base_begin(const std::string& name) {
  const std::size_t colons = name.rfind("::");
  return colons == name.npos ? 0 : colons + 2;
}

std::size_t base_end(const std::string& name) {
  return std::min(name.find('.', base_begin(name)), name.size());
}

bool is_name_taken(const Place& place, const std::string& name) {
  return std::any_of(place.manifest["operators"].begin(), place.manifest["operators"].end(),
                     [&name](const Json& op) { return op["name"] == name; });
}

// Another operator of the item's registry that nobody defines.
Json undefined(const Place& place, std::string name, const std::string& space,
               const std::string& platform) {
  return {{"name", std::move(name)},
          {"namespace", space.empty() ? place.item["namespace"] : Json(space)},
          {"schema", nullptr},
          {"kernels", {{{"platform", platform}}}}};
}

bool is_shaped(const Json& op) {
  if (has(op, "abstract")) return true;
  return std::any_of(op["kernels"].begin(), op["kernels"].end(),
                     [](const Json& kernel) { return kernel["platform"] == "Meta"; });
}

// Then the framework makes the shape function by itself.
bool returns_nothing(const Json& op) { return text_of(op, "schema").ends_with("-> ()"); }

// Devices that the operator has a kernel for; empty where a row serves all of them.
std::set<std::string> devices_of(const Json& op) {
  std::set<std::string> devices;
  for (const Json& kernel : at(op, "kernels")) {
    const std::string platform = kernel["platform"];
    if (platform.starts_with("Composite")) return {};
    if (platform == "CPU" || platform == "CUDA") devices.insert(platform);
  }
  return devices;
}

// Nine in ten of at least five neighbours have a shape function, in the namespace as well as among
// those with equal devices.
bool neighbours_are_shaped(const Place& place) {
  const std::set<std::string> devices = devices_of(place.item);
  if (devices.empty() || returns_nothing(place.item)) return false;
  std::size_t shaped = 0;
  std::size_t near = 0;
  std::size_t near_shaped = 0;
  std::size_t all = 0;
  for (const Json& op : place.manifest["operators"]) {
    if (op["namespace"] != place.item["namespace"] || !op.contains("abstract")) continue;
    const std::set<std::string> others = devices_of(op);
    if (others.empty() || returns_nothing(op)) continue;
    ++all;
    shaped += is_shaped(op) ? 1 : 0;
    if (others != devices) continue;
    ++near;
    near_shaped += is_shaped(op) ? 1 : 0;
  }
  return near > 5 && shaped * 100 >= all * 95 && near_shaped * 100 >= near * 95;
}

std::vector<std::string> positional_names(const std::string& text) {
  std::vector<std::string> names;
  const std::optional<OperatorSchema> schema = read_torch_schema(text);
  if (!schema) return names;
  for (const SchemaOperand& input : schema->inputs) {
    if (!input.keyword_only) names.emplace_back(input.name);
  }
  return names;
}

void drop_rows(Json& kernels, const char* platform) {
  for (std::size_t at = kernels.size(); at-- > 0;) {
    if (kernels[at]["platform"] == platform) kernels.erase(at);
  }
}

// Arguments that every call gives by position, or 0 where that isn't plain.
std::size_t positional_arguments(const Place& place) {
  const Json& op = place.item;
  if (has_schema(op)) {
    if (!in_torch(place) || text_of(op, "schema").find('*') != std::string::npos) return 0;
    return at(op, "inputs").size() + at(op, "attributes").size();
  }
  return at(op, "inputs").is_number() && op.contains("attributes") ? op["inputs"].get<std::size_t>()
                                                                   : 0;
}

}  // namespace

std::vector<Mistake> definition_mistakes() {
  return {
      {"argument-order", "the first two parameters of the shape function swapped",
       [](Place& place) {
         Json& op = place.item;
         if (!in_torch(place)) return false;
         const std::vector<std::string> names = positional_names(op["schema"]);
         if (names.size() < 2 || has(at(op, "abstract"), "kind")) return false;
         op["abstract"] = {{"name", "swapped"}, {"parameters", names}};
         std::swap(op["abstract"]["parameters"][0], op["abstract"]["parameters"][1]);
         return true;
       }},
      {"fake-default-missing", "a shape function that requires what has a default",
       [](Place& place) {
         Json& op = place.item;
         if (!in_torch(place)) return false;
         const std::optional<OperatorSchema> schema = read_torch_schema(text_of(op, "schema"));
         if (!schema || schema->inputs.empty()) return false;
         const SchemaOperand& last = schema->inputs.back();
         if (!last.has_default || last.keyword_only) return false;
         op["abstract"] = {{"name", "planted_shape"},
                           {"positional", schema->inputs.size()},
                           {"required", schema->inputs.size()}};
         return true;
       }},
      {"call-arguments-swapped", "a call with two arguments exchanged",
       [](Place& place) {
         Json& op = place.item;
         if (!in_torch(place)) return false;
         op["schema"] = text_of(op, "name") + "(Tensor scales, Tensor zeros) -> Tensor";
         place.beside["dispatch"] = {
             {{"operator", op["name"]},
              {"lookups", {{{"operator", op["name"]}, {"names", {"zeros", "scales"}}}}}}};
         return true;
       }},
      {"fake-choice-unread", "a shape function that doesn't read what chooses the shape",
       [](Place& place) {
         Json& op = place.item;
         if (!in_torch(place)) return false;
         op["abstract"] = {
             {"name", "planted_shape"}, {"parameters", {"x", "swap"}}, {"reads", {"x"}}};
         op["kernels"] = {
             {{"platform", "CPU"},
              {"function",
               {{"name", "planted"}, {"parameters", {"x", "swap"}}, {"shape", {"swap"}}}}}};
         return true;
       }},
      {"fake-dtype", "a shape function that says another dtype",
       [](Place& place) {
         Json& op = place.item;
         if (!in_torch(place)) return false;
         op["abstract"] = {{"name", "planted_shape"}, {"results", {"f16"}}};
         op["kernels"] = {
             {{"platform", "CPU"}, {"function", {{"name", "planted"}, {"results", {"f32"}}}}}};
         return true;
       }},
      {"fake-rank", "a shape function that says one dimension less",
       [](Place& place) {
         Json& op = place.item;
         if (!in_torch(place)) return false;
         op["abstract"] = {{"name", "planted_shape"}, {"rank", {1}}};
         op["kernels"] = {
             {{"platform", "CPU"}, {"function", {{"name", "planted"}, {"rank", {2}}}}}};
         return true;
       }},
      {"fake-overload-missing", "an overload without the shape function of another",
       [](Place& place) {
         Json& op = place.item;
         const std::string name = text_of(op, "name");
         if (!in_torch(place) || name.find('.') != name.npos || returns_nothing(op)) return false;
         if (text_of(op, "schema").find("-> Tensor") == std::string::npos) return false;
         if (!is_shaped(op) || is_name_taken(place, name + ".planted")) return false;
         Json other = op;
         other["name"] = name + ".planted";
         other["abstract"] = nullptr;
         other["kernels"] = Json::array();
         place.added.push_back(other);
         place.beside["producer"] = {{"name", "sources"}};
         place.beside["tree"] = {{"files", 1}, {"partial", false}};
         return true;
       }},
      {"impl-crossed", "two kernels registered for each other",
       [](Place& place) {
         Json& op = place.item;
         if (!in_torch(place)) return false;
         const std::string name = text_of(op, "name");
         const std::string base = name.substr(base_begin(name), base_end(name) - base_begin(name));
         Json other = op;
         other["name"] = name.substr(0, base_begin(name)) + "planted";
         other["kernels"] = {{{"platform", "CPU"}, {"function", {{"name", base + "_cpu"}}}}};
         op["kernels"] = {{{"platform", "CPU"}, {"function", {{"name", "planted_cpu"}}}}};
         place.added.push_back(other);
         place.beside["producer"] = {{"name", "sources"}};
         place.beside["tree"] = {{"files", 1}, {"partial", false}};
         return true;
       }},
      {"lookup-conditional", "an import that asks for what some builds lack",
       [](Place& place) {
         Json& op = place.item;
         if (!in_torch(place)) return false;
         op["defined_in"] = "native";
         op["when"] = "defined(PLANTED)";
         place.beside["dispatch"] = {{{"operator", op["name"]},
                                      {"lookups", {{{"operator", op["name"]}, {"always", true}}}}}};
         place.beside["producer"] = {{"name", "sources"}};
         place.beside["tree"] = {{"files", 1}, {"partial", false}};
         return true;
       }},
      {"namespace-unexpanded", "a macro in place of a namespace",
       [](Place& place) {
         if (!in_torch(place) || !has(place.item, "namespace")) return false;
         place.item["spelling"] = "PLANTED_NAME";
         return true;
       }},
      {"returns-alias", "a kernel that hands back its argument",
       [](Place& place) {
         Json& op = place.item;
         if (!in_torch(place)) return false;
         op["schema"] = text_of(op, "name") + "(Tensor x) -> Tensor";
         op["kernels"] = {{{"platform", "CPU"},
                           {"function", {{"name", "planted"}, {"parameters", {"x"}}}},
                           {"aliases", {"x"}}}};
         return true;
       }},
      {"fake-missing", "the shape function lost, where neighbours have one",
       [](Place& place) {
         if (!is_system(place, "torch") || !place.item.contains("abstract")) return false;
         if (!is_shaped(place.item) || !neighbours_are_shaped(place)) return false;
         place.item["abstract"] = nullptr;
         drop_rows(place.item["kernels"], "Meta");
         return true;
       }},
      {"fake-signature", "the shape function takes an argument too few",
       [](Place& place) {
         Json& op = place.item;
         if (!has(at(op, "abstract"), "positional") || has(op["abstract"], "kind")) return false;
         const std::size_t arguments = positional_arguments(place);
         if (arguments == 0 || op["abstract"]["positional"] != arguments) return false;
         op["abstract"]["positional"] = arguments - 1;
         op["abstract"]["variadic"] = false;
         return true;
       }},
      {"fake-shape-mismatch", "the kernel writes wider floats than were traced",
       [](Place& place) {
         if (!has_items(place.item, "traced_signatures") || !has_items(place.item, "kernels")) {
           return false;
         }
         Json computed = place.item["traced_signatures"].front();
         if (computed.back() != "float32") return false;
         computed.back() = "float64";
         any_of(place.item["kernels"], place.random)["signatures"] = Json::array({computed});
         return true;
       }},
      {"mutation-unmarked", "an operand and its schema differ about a write",
       [](Place& place) {
         if (!in_torch(place) || !has_items(place.item, "inputs")) return false;
         Json& operand = any_of(place.item["inputs"], place.random);
         if (!has(operand, "name") || !has(operand, "mutated")) return false;
         operand["mutated"] = !operand["mutated"].get<bool>();
         return true;
       }},
      {"mutation-unmarked", "an `.out` overload without a mark",
       [](Place& place) {
         if (!in_torch(place) || !text_of(place.item, "name").ends_with(".out")) return false;
         return unmark(place.item);
       }},
      {"mutates-args-malformed", "a name that no parameter has",
       [](Place& place) {
         if (!in_torch(place) || !has_items(place.item, "inputs")) return false;
         place.item["mutates_args"] = {"no_such_parameter"};
         return true;
       }},
      {"mutates-args-malformed", "a text in place of a list",
       [](Place& place) {
         if (!in_torch(place)) return false;
         place.item["mutates_args"] = "x,y";
         return true;
       }},
      {"impl-without-def", "a kernel in a namespace that nobody defines anything in",
       [](Place& place) {
         if (!in_torch(place)) return false;
         place.added.push_back(undefined(place, "nowhere::scale", "nowhere", "CPU"));
         return true;
       }},
      {"impl-without-def", "a kernel for a misspelt operator",
       [](Place& place) {
         if (!in_torch(place)) return false;
         std::string name = place.item["name"];
         const std::size_t begin = base_begin(name);
         if (base_end(name) - begin < 7) return false;
         const char lost = name[begin + 3];
         if ((lost >= '0' && lost <= '9') || lost == '_') return false;
         name.erase(begin + 3, 1);
         if (is_name_taken(place, name)) return false;
         place.added.push_back(undefined(place, name, "", "Vulkan"));
         return true;
       }},
      {"impl-def-unseen", "a kernel for an operator that is defined elsewhere, if at all",
       [](Place& place) {
         if (!in_torch(place)) return false;
         std::string name = place.item["name"];
         name.insert(base_end(name), "_of_another_library");
         place.added.push_back(undefined(place, name, "", "CPU"));
         return true;
       }},
      {"def-without-impl", "only the shape function left",
       [](Place& place) {
         if (!in_torch(place) || devices_of(place.item).empty()) return false;
         place.item["kernels"] = {{{"platform", "Meta"}}};
         return true;
       }},
      {"schema-arity", "a kernel that takes nothing",
       [](Place& place) {
         if (!in_torch(place) || !has_schema(place.item) || is_inferred(place.item)) return false;
         const std::string schema = place.item["schema"];
         if (schema[schema.find('(') + 1] == ')') return false;
         place.item["kernels"].push_back({{"platform", "Vulkan"},
                                          {"function", {{"name", "lost"}, {"positional", 0}}},
                                          {"native_signature", "()"}});
         return true;
       }},
      {"schema-malformed", "a bracket lost",
       [](Place& place) {
         if (!in_torch(place)) return false;
         std::string schema = place.item["schema"];
         const std::size_t close = schema.rfind(") ->");
         if (close == schema.npos) return false;
         schema.erase(close, 1);
         place.item["schema"] = schema;
         return true;
       }},
      {"schema-type", "a kernel that takes an optional where there is none",
       [](Place& place) {
         if (!in_torch(place)) return false;
         const std::string text = place.item["schema"];
         const std::optional<OperatorSchema> schema = read_torch_schema(text);
         if (!schema || schema->inputs.empty()) return false;
         if (torch_type_text(schema->inputs.front()) != "Tensor") return false;
         std::string signature = "(const std::optional<at::Tensor>& x";
         for (std::size_t at = 1; at < schema->inputs.size(); ++at) signature += ", Unknown y";
         place.item["kernels"].push_back(
             {{"platform", "Vulkan"}, {"native_signature", signature + ")"}});
         return true;
       }},
      {"schema-conflict", "a second definition with an argument more",
       [](Place& place) {
         if (!has_schema(place.item) || is_inferred(place.item)) return false;
         if (!is_system(place, "torch") && !is_system(place, "executorch")) return false;
         std::string schema = place.item["schema"];
         const std::size_t open = schema.find('(');
         schema.insert(open + 1, schema[open + 1] == ')' ? "int extra" : "int extra, ");
         place.added.push_back({{"name", place.item["name"]},
                                {"namespace", place.item["namespace"]},
                                {"schema", schema}});
         return true;
       }},
      {"namespace-wrong", "a letter of the namespace lost",
       [](Place& place) {
         const std::string space = text_of(place.item, "namespace");
         const auto& operators = place.manifest["operators"];
         const auto members =
             std::count_if(operators.begin(), operators.end(),
                           [&space](const Json& op) { return text_of(op, "namespace") == space; });
         if (space.size() < 6 || members < 4 || space[2] == '_') return false;
         // Whoever nobody defines is in its namespace because the definition is.
         if (is_system(place, "torch") && !has_schema(place.item)) return false;
         const std::string slip = space.substr(0, 2) + space.substr(3);
         place.item["namespace"] = slip;
         for (const char* key : {"name", "schema"}) {
           const std::string text = text_of(place.item, key);
           if (text.starts_with(space + "::")) place.item[key] = slip + text.substr(space.size());
         }
         return true;
       }},
      {"override-silent", "a registry that replaces without a word",
       [](Place& place) {
         place.item["on_duplicate"] = place.random() % 2 == 0 ? "replace" : "ignore";
         return true;
       },
       ""},
  };
}

}  // namespace opseal::test
