#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/sources/declarations.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A handler of XLA's FFI, as `XLA_FFI_DEFINE_HANDLER` and its relatives define one.
struct HandlerRecord {
  PlacedName symbol;
  // The implementation.
  SourceFunction function;
  // What its parameters are, each a word of a spec; `?` where the type doesn't tell.
  std::vector<std::string> parameters;
  // `spec` is all that it binds.
  bool bound = false;
  std::vector<std::string> spec;
  // Empty where it isn't said.
  std::string stage;
  std::vector<std::string> traits;
  BuildCondition when;
  std::string macro;
  SourcePlace place;
};

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

void read_handlers_cpp(const SourceUnit& unit, const Invocations& found,
                       std::vector<HandlerRecord>& records);

// Fills in what the implementation takes, as far as its declarations agree.
void complete_handler(HandlerRecord& handler, const Declarations& declarations,
                      const std::vector<std::string>& paths);

}  // namespace opseal
