#pragma once

#include <optional>
#include <string_view>

#include "analyzers/source/tokens.h"

namespace opseal {

// What the condition of a conditional says where a macro is not defined.
struct WithoutMacro {
  // The macro's value is compared with something; else it is at most asked whether it is there.
  bool compares = false;
  // The truth of the whole, where it doesn't hang on anything else.
  std::optional<bool> truth;
};

// Of the tokens behind `if` or `elif`: an identifier without a definition is 0 [cpp.cond].
WithoutMacro without_macro(Tokens condition, std::string_view macro);

}  // namespace opseal
