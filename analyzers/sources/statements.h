#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"

namespace opseal {

// The statements of one body, with what each gives a value, so that a value can be followed
// backwards by names. Nothing is known of types: what a name may be changed by counts.
class Statements {
 public:
  struct Statement {
    TokenRange tokens;
    std::uint32_t block = 0;
  };
  struct Block {
    std::uint32_t outer = 0;
    // What stands before its brace, and of an `else` also that of its `if`.
    TokenRange head;
    TokenRange before;
    // One statement without braces.
    bool single = false;
  };

  // `open`: a token; lambdas around it are read as blocks, others as part of their statement.
  // Needs: the source outlives this.
  Statements(const PlainSource& source, TokenRange body, std::uint32_t open);

  struct Origins {
    // Sorted.
    std::vector<std::string_view> names;
    // What was gone through.
    std::vector<TokenRange> read;
  };

  // Where the names of `from` come from, by statements that begin before `until`. What is in `stop`
  // isn't followed.
  Origins origins(const std::vector<std::string_view>& from, std::uint32_t until,
                  const std::vector<std::string_view>& stop) const;
  // Identifiers that are no part of another's name.
  std::vector<std::string_view> names_in(TokenRange range) const;
  bool defines(std::string_view name) const { return by_name_.contains(name); }
  const std::vector<Statement>& all() const { return statements_; }

 private:
  const Token& token(std::uint32_t at) const { return tokens_[at]; }
  void split(TokenRange body, std::uint32_t open);
  std::uint32_t brace(std::uint32_t at, std::uint32_t open);
  void end_statement(std::uint32_t end);
  bool begins_branch() const;
  void open_block(std::uint32_t end, bool single);
  void close_block();
  void close_singles();
  bool is_block(std::uint32_t brace) const;
  bool gives_value(std::uint32_t at, TokenRange statement) const;
  bool is_unpacked(std::uint32_t at, TokenRange statement) const;

  const std::vector<Token>& tokens_;
  const std::vector<std::uint32_t>& partners_;
  std::vector<TokenRange> lambdas_;
  std::vector<Statement> statements_;
  std::vector<Block> blocks_;
  std::multimap<std::string_view, std::uint32_t> by_name_;
  std::uint32_t start_ = 0;
  std::uint32_t block_ = 0;
  // Of the block that ended last.
  TokenRange ended_;
};

}  // namespace opseal
