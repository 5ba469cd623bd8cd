#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzers/source/macro_table.h"
#include "analyzers/source/preprocessor.h"
#include "analyzers/source/tokens.h"

namespace opseal {

// Expands the macros of a run of tokens, as [cpp.replace] says: arguments are expanded by
// themselves, then what comes out is read again together with what follows, and a macro's name
// stays in its own expansion. A name with several definitions gives all of them one after the
// other, each token with the condition of its own.
class MacroExpander {
 public:
  MacroExpander(MacroTable& macros, SourceUnit& unit, const PreprocessorLimits& limits)
      : macros_(macros), unit_(unit), limits_(limits) {}

  void clear() { steps_ = 0; }

  // Adds to `out`. Of the tokens themselves, only macros that `MacroTable::is_hot` says are
  // expanded.
  void expand(Tokens tokens, std::vector<Token>& out);

  // Notes a use of a macro that was stated.
  void note_use(const MacroTable::Name& name, const Token& token, bool fits,
                std::uint32_t arguments);

 private:
  // What is being read, from the innermost expansion out to the tokens themselves.
  struct Source {
    std::vector<Token> tokens;
    std::size_t at = 0;
    // The macro whose expansion it is.
    MacroTable::Name* macro = nullptr;
  };

  struct Stream {
    Tokens base;
    std::size_t at = 0;
    std::vector<Source> sources;
    // The tokens are an argument of this expansion; 0 = they stand in the file.
    std::uint32_t outer = 0;
    std::uint32_t depth = 0;
  };

  // One use of a definition.
  struct Site {
    const MacroDefinition* macro = nullptr;
    std::vector<std::vector<Token>> arguments;
    // Made when they are first needed.
    std::vector<std::optional<std::vector<Token>>> expanded;
    std::uint32_t condition = 0;
    std::uint32_t expansion = 0;
    std::uint32_t depth = 0;
  };

  void run(Stream& stream, std::vector<Token>& out);
  bool take(Stream& stream, Token& token);
  void pop(Stream& stream);
  bool bracket_follows(const Stream& stream) const;
  bool read_arguments(Stream& stream, std::vector<Token>& list, Token& close);
  bool expand_name(Stream& stream, const Token& token, MacroTable::Name& name,
                   std::vector<Token>& out);
  bool expand_choices(Stream& stream, const Token& token, MacroTable::Name& name,
                      std::span<const MacroTable::Definition> choices, std::uint32_t expansion,
                      const std::vector<Token>& list);
  std::uint32_t expansion_at(const Stream& stream, const Token& token,
                             const MacroDefinition& macro);

  void substitute(Site& site, Tokens body, std::vector<Token>& out);
  void put_operand(Site& site, Tokens body, std::size_t& at, bool raw, std::vector<Token>& out);
  void put(const Site& site, Token token, std::vector<Token>& out);
  void put_all(const Site& site, Tokens tokens, bool space_before, std::vector<Token>& out);
  const std::vector<Token>& expanded_argument(Site& site, std::size_t index);
  Token stringized(const Site& site, const Token& mark, Tokens argument);
  bool paste(Token& left, const Token& right);
  bool spent() const { return steps_ > limits_.expansion_steps; }

  MacroTable& macros_;
  SourceUnit& unit_;
  const PreprocessorLimits& limits_;
  std::uint64_t steps_ = 0;
};

}  // namespace opseal
