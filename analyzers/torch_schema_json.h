#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analyzers/torch_schema.h"

namespace opseal {

// Adds `inputs` (the tensors), `attributes` (all other arguments), `outputs` and `arity_source` to
// an operator of a manifest.
void add_torch_operands(const TorchSchema& schema, nlohmann::ordered_json& added);

}  // namespace opseal
