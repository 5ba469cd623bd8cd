#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "analyzers/source/conditions.h"
#include "analyzers/source/macros.h"
#include "analyzers/source/tokens.h"

namespace opseal {

class SourceTree;

// The outermost use of a macro: what a reader of the file sees there.
struct MacroExpansion {
  std::string_view macro;
  // From the name to the closing bracket.
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  // The definition that was taken; of several the first.
  const MacroDefinition* definition = nullptr;
};

// A place where a macro is used that was stated, and not found in the sources.
struct StatedUse {
  std::string_view macro;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  // What it stands for takes as many arguments.
  bool fits = false;
  std::uint32_t arguments = 0;
};

// A source with the macros expanded that lead to registrations, and all branches of its
// conditionals one after the other. Texts point into the bytes, the headers of the tree, and the
// unit itself.
struct SourceUnit {
  FileId file = no_file;
  std::string_view bytes;
  std::vector<Token> tokens;
  // The first stands for no expansion.
  std::vector<MacroExpansion> expansions;
  ConditionTable conditions;
  std::vector<SourceComment> comments;
  // Of each macro the first use that fits, and the first that doesn't.
  std::vector<StatedUse> stated_uses;
  // A limit was met: from some place on macros are not expanded, or tokens are missing.
  bool truncated = false;

  // Held for the tokens.
  std::vector<std::unique_ptr<MacroDefinition>> definitions;
  TextArena arena;

  void clear();
  std::string_view macro_of(const Token& token) const { return expansions[token.expansion].macro; }
  const BuildCondition& condition_of(const Token& token) const {
    return conditions[token.condition];
  }
};

// Limits of one file. No real file that was looked at comes near them.
struct PreprocessorLimits {
  std::uint32_t tokens = 2'000'000;
  // Tokens read and made while macros are expanded.
  std::uint64_t expansion_steps = 4'000'000;
  // Invocations within arguments of invocations.
  std::uint32_t argument_depth = 64;
  std::uint32_t include_depth = 40;
  // Definitions of one macro from different branches that are all taken.
  std::uint32_t alternatives = 8;
};

// Reads sources one after the other; each thread has its own. Directives are obeyed as [cpp] says,
// except that every branch of a conditional is taken, unless its words contradict each other, and
// that headers give their macros alone. Expanded are, outside of other expansions, only macros that
// lead to a word of the vocabulary or call their own parameters, and those that stand for a text or
// for their argument.
class Preprocessor {
 public:
  explicit Preprocessor(const SourceTree& tree, PreprocessorLimits limits = {});

  // Needs: bytes of less than 4 GiB, which outlive the unit's use. The unit is cleared first.
  void run(FileId file, std::string_view bytes, SourceUnit& unit);

 private:
  class Run;

  const SourceTree& tree_;
  PreprocessorLimits limits_;
  // Headers that were included already; kept, so that it isn't allocated for each file.
  std::vector<char> seen_;
};

}  // namespace opseal
