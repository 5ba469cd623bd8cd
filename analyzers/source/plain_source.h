#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/source/invocations.h"
#include "analyzers/source/preprocessor.h"
#include "analyzers/source/tokens.h"

namespace opseal {

// One branch of a conditional: from its directive to the next one of the same conditional.
struct SourceBranch {
  // `if`, `ifdef`, `ifndef`, `elif`, …, `else`.
  std::string_view word;
  // What it asks, in `PlainSource::directive_tokens`; empty for `else`.
  TokenRange asks;
  // What it holds, in `SourceUnit::tokens`.
  TokenRange tokens;
  // It defines macros.
  bool defines = false;
  // Under which the whole conditional stands; index into `SourceUnit::conditions`.
  std::uint32_t outer = 0;
  // Index of the next branch of the conditional, or no_token.
  std::uint32_t next = no_token;
};

// A `#define` as it is written.
struct SourceDefinition {
  std::string_view name;
  bool function_like = false;
  // In `PlainSource::directive_tokens`.
  TokenRange body;
  // Index into `SourceUnit::conditions`.
  std::uint32_t condition = 0;
};

// A source as it is written: macros are not expanded, no header is looked at, and the conditionals
// themselves are kept. What a reader needs that asks how code is guarded.
struct PlainSource {
  SourceUnit unit;
  std::vector<Token> directive_tokens;
  // In the order of their directives.
  std::vector<SourceBranch> branches;
  std::vector<SourceDefinition> definitions;
  // The texts behind `include`.
  std::vector<std::string_view> includes;
  // Scopes and brackets alone.
  Invocations shape;

  Tokens directive(TokenRange range) const {
    return Tokens(directive_tokens).subspan(range.begin, range.end - range.begin);
  }
  // Index of the innermost scope around a token, or no_scope.
  std::uint32_t scope_of(std::uint32_t token) const;
};

// Needs: bytes of less than 4 GiB, which outlive the use of the source. It is cleared first.
void read_plain(FileId file, std::string_view bytes, PlainSource& source);

}  // namespace opseal
