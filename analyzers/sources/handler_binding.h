#pragma once

#include <string>
#include <vector>

#include "analyzers/source/tokens.h"

namespace opseal {

// What a chain of bindings says: `Ffi::Bind().Ctx<S>().Arg<B>().Attr<T>("n").Ret<B>()`.
struct HandlerBinding {
  // The whole chain was understood.
  bool whole = false;
  std::vector<std::string> spec;
  std::string stage;
};
HandlerBinding read_binding(Tokens tokens);

// What the parameters of an implementation are, in the words of a spec. Needs: the tokens between
// the brackets.
std::vector<std::string> parameter_words(Tokens inside);

}  // namespace opseal
