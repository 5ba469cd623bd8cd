#include "analyzers/torch_schema_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace opseal {
namespace {

using Json = nlohmann::ordered_json;

Json operand_json(const SchemaOperand& operand, bool is_input) {
  Json described = Json::object();
  if (!operand.name.empty()) described["name"] = operand.name;
  if (operand.is_tensor() && (is_input || !operand.alias.empty())) {
    described["mutated"] = operand.mutated();
  }
  if (!operand.alias.empty()) described["alias"] = operand.alias;
  if (operand.is_tensor() && operand.optional) described["optional"] = true;
  std::string type = torch_type_text(operand);
  if (type != "Tensor" && type != "Tensor?") described["type"] = std::move(type);
  return described;
}

}  // namespace

std::string torch_operator_name(std::string_view name) {
  return (name.find("::") == name.npos ? "aten::" : "") + std::string(name);
}

void add_torch_operands(const OperatorSchema& schema, Json& added) {
  Json inputs = Json::array(), attributes = Json::array(), outputs = Json::array();
  for (const SchemaOperand& operand : schema.inputs) {
    if (operand.is_tensor()) {
      inputs.push_back(operand_json(operand, true));
    } else {
      attributes.push_back({{"name", operand.name}, {"type", torch_type_text(operand)}});
    }
  }
  for (const SchemaOperand& operand : schema.outputs) {
    outputs.push_back(operand_json(operand, false));
  }
  added["inputs"] = std::move(inputs);
  added["attributes"] = std::move(attributes);
  added["outputs"] = std::move(outputs);
  added["arity_source"] = "schema";
}

}  // namespace opseal
