#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "opseal/schema_text.h"

namespace opseal {

// `aten::add.out` for `add.out`; what has a namespace stays as it is.
std::string torch_operator_name(std::string_view name);

// Adds `inputs` (the tensors), `attributes` (all other arguments), `outputs` and `arity_source` to
// an operator of a manifest.
void add_torch_operands(const OperatorSchema& schema, nlohmann::ordered_json& added);

}  // namespace opseal
