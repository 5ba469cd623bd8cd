#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// One argument or result of a torch schema, for example `Tensor(a!)? out`.
struct TorchOperand {
  std::string type;   // without the alias set: `Tensor?`
  std::string name;   // empty for a result without a name
  std::string alias;  // `a!`; empty where the schema marks none

  bool is_tensor() const;
  bool is_written() const { return alias.find('!') != std::string::npos; }
};

// `ns::name.overload(ARGUMENTS) -> RESULTS` as `native_functions.yaml` has it.
struct TorchSchema {
  // With the overload and, where it is not written out, the namespace `aten`.
  std::string name;
  std::vector<TorchOperand> arguments;
  std::vector<TorchOperand> results;
};

// Nothing where the text is no such schema.
std::optional<TorchSchema> split_torch_schema(std::string_view text);

// `aten::add.out` for `add.out`; what has a namespace stays as it is.
std::string torch_operator_name(std::string_view name);

}  // namespace opseal
