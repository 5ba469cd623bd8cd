#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// One argument of a schema as torch writes it: `Tensor(a!) self`, `SymInt[2] stride=1`.
struct CallArgument {
  // `_0`, `_1` by place for an argument without one; a result may have none.
  std::string name;
  // Without alias marks, and with `int` for `SymInt`, since each is taken wherever the other is.
  std::string type;
  // `a`, `a!`; empty where there is none.
  std::string alias;
  // A list of equal elements is written as its element; empty where there is none.
  std::string fallback;
  bool keyword_only = false;
};

// Who may call an operator how, in texts that can be held against those of another dump.
// `OperatorSchema` takes types apart and drops the length of a list, which callers notice.
struct CallSignature {
  std::vector<CallArgument> arguments;
  std::vector<CallArgument> results;
  // `...`: any number more than those listed.
  bool more_arguments = false;
  bool more_results = false;
  bool readable = false;
};

// `ns::name.overload(arguments) -> results`, as torch and ExecuTorch write it.
CallSignature read_call_signature(std::string_view text);

// Two defaults are one value: `1e-05` and `0.00001`, `True` and `1`, `'x'` and `"x"`.
bool same_default(std::string_view a, std::string_view b);

}  // namespace opseal
