#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// One argument of a schema as torch writes it: `Tensor(a!) self`, `SymInt[2] stride=1`.
struct SchemaArgument {
  std::string name;
  // Without alias marks, and with `int` for `SymInt` and `int[]` for `int[2]`: these are taken
  // wherever the other is.
  std::string type;
  // `a`, `a!`; empty where there is none.
  std::string alias;
  // A list of equal elements is written as its element; empty where there is none.
  std::string fallback;
  bool keyword_only = false;
};

struct Schema {
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> results;
  bool readable = false;
};

// `ns::name.overload(arguments) -> results`, as torch and ExecuTorch write it.
Schema read_schema(std::string_view text);

}  // namespace opseal
