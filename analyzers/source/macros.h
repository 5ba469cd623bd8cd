#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyzers/source/tokens.h"
#include "analyzers/source/vocabulary.h"

namespace opseal {

// Index into the paths of a SourceTree.
using FileId = std::uint32_t;
constexpr FileId no_file = 0xffffffff;

// What a `#define` says. It is read once and then shared by all that include it.
struct MacroDefinition {
  std::string_view name;
  std::uint32_t name_hash = 0;
  bool function_like = false;
  // The last parameter takes what is left over, commas included: `...`, or GNU's `name...`.
  bool variadic = false;
  // The body has a word of the vocabulary, or calls one of its seed members.
  bool has_seed = false;
  // The body calls one of the macro's own parameters, as an X-macro does.
  bool calls_parameter = false;
  // The body is of string literals and names only, at least one a literal; function-like: of
  // several texts, literals or `#parameter`, or it is a parameter and nothing else.
  bool is_text = false;
  // It may lead to a word of the vocabulary: by one of the above, or through another macro.
  bool leads_on = false;
  // Its name is a word of the vocabulary that is never expanded.
  bool is_terminal = false;
  std::vector<std::string_view> parameters;
  // A token that is a parameter has its index, plus one, in `expansion`.
  std::vector<Token> body;
  // Where the definition stands: its name. `no_file` = in the prelude.
  FileId file = no_file;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

// Reads what follows `define` in a directive. False where it is no definition.
bool read_definition(Tokens tokens, const Vocabulary& vocabulary, MacroDefinition& definition);

}  // namespace opseal
