#include "analyzers/torch_schema_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace opseal {
namespace {

using Json = nlohmann::ordered_json;

Json operand_json(const TorchOperand& operand, bool is_input) {
  Json described = Json::object();
  if (!operand.name.empty()) described["name"] = operand.name;
  if (operand.is_tensor() && (is_input || !operand.alias.empty())) {
    described["mutated"] = operand.is_written();
  }
  if (!operand.alias.empty()) described["alias"] = operand.alias;
  if (operand.is_tensor() && operand.type.back() == '?') described["optional"] = true;
  if (operand.type != "Tensor" && operand.type != "Tensor?") described["type"] = operand.type;
  return described;
}

}  // namespace

void add_torch_operands(const TorchSchema& schema, Json& added) {
  Json inputs = Json::array(), attributes = Json::array(), outputs = Json::array();
  for (const TorchOperand& operand : schema.arguments) {
    if (operand.is_tensor()) {
      inputs.push_back(operand_json(operand, true));
    } else {
      attributes.push_back({{"name", operand.name}, {"type", operand.type}});
    }
  }
  for (const TorchOperand& operand : schema.results) {
    outputs.push_back(operand_json(operand, false));
  }
  added["inputs"] = std::move(inputs);
  added["attributes"] = std::move(attributes);
  added["outputs"] = std::move(outputs);
  added["arity_source"] = "schema";
}

}  // namespace opseal
