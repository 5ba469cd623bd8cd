#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/tokens.h"
#include "analyzers/sources/records.h"

namespace opseal {

// Where the tokens stand, from the first to the last.
SourcePlace place_of(Tokens tokens, std::uint32_t file);

// The parts between commas that stand in no brackets, angle brackets among them: for lists in which
// `<` is never "less than", such as parameters.
std::vector<Tokens> split_typed(Tokens inside);

// A parameter that has a name, or at least a type.
struct NamedParameter {
  // Its name, else the last word of its type.
  const Token* name = nullptr;
  std::size_t position = 0;
  bool tensor = false;
  bool is_const = false;
  bool by_reference = false;
};
// Of the inside of a parameter list; nothing where there are more than `most`.
std::vector<NamedParameter> named_parameters(Tokens inside, std::size_t most);

// The word at `at` belongs to another one: `x.word`, `x->word`, `x::word`.
bool is_qualified(Tokens tokens, std::size_t at);

// Reads the inside of a parameter list. False where it is no list of a function that a registry
// could call with the operator's arguments (a boxed kernel, a parameter pack).
bool read_parameters(Tokens inside, SourceFunction& function);

// Adds the type that a function returns to what `read_parameters` found; `head` is what stands
// before its name, as far as one likes, `tail` what stands behind its parameters.
void read_return_type(Tokens head, Tokens tail, SourceFunction& function);

// The last part of a name: `fn` of `a::b::fn<float>`.
std::string_view base_of(std::string_view name);

// What is handed to a registry as a kernel: `&fn`, `TORCH_FN(fn)`, `torch::dispatch(key, fn)`, a
// lambda.
struct KernelArgument {
  SourceFunction function;
  // Of `torch::dispatch`.
  Tokens key;
  bool fallthrough = false;
};
KernelArgument read_kernel_argument(Tokens tokens, std::uint32_t file);

}  // namespace opseal
