#include "analyzers/source/statements.h"

#include <algorithm>

#include "analyzers/source/branches.h"

namespace opseal {
namespace {

class StatementReader {
 public:
  StatementReader(Tokens tokens, const std::vector<std::uint32_t>& partners)
      : tokens_(tokens), partners_(partners) {}

  std::vector<Statement> read_all(TokenRange range, unsigned depth) {
    std::vector<Statement> list;
    std::uint32_t at = range.begin;
    while (at < range.end) {
      const std::uint32_t before = at;
      read_one(list, at, range.end, depth);
      if (at == before) ++at;
    }
    return list;
  }

 private:
  // The bracket that closes the one at `open`, or the end.
  std::uint32_t closing(std::uint32_t open, std::uint32_t end) const {
    const std::uint32_t close = partners_[open];
    return close == no_token || close <= open || close >= end ? end : close;
  }

  bool is(std::uint32_t at, std::uint32_t end, char punctuator) const {
    return at < end && tokens_[at].is(punctuator);
  }

  // Behind the next `;` that stands in no brackets.
  std::uint32_t behind_semicolon(std::uint32_t at, std::uint32_t end) const {
    for (; at < end; ++at) {
      const Token& token = tokens_[at];
      if (token.is(';')) return at + 1;
      if (token.is('(') || token.is('[') || token.is('{')) at = closing(at, end);
      if (token.kind == TokenKind::directive) return at;
    }
    return end;
  }

  void read_one(std::vector<Statement>& list, std::uint32_t& at, std::uint32_t end,
                unsigned depth) {
    const Token& token = tokens_[at];
    if (token.kind == TokenKind::directive) {
      const StatementKind kind = token.is(branch_begins)    ? StatementKind::branch_if
                                 : token.is(branch_changes) ? StatementKind::branch_else
                                                            : StatementKind::branch_end;
      list.push_back({kind, {at, at + 1}, {}, {}});
      ++at;
    } else if (token.is(';')) {
      ++at;
    } else if (depth >= most_statement_depth) {
      list.push_back({StatementKind::expression, {at, end}, {}, {}});
      at = end;
    } else if (token.is('{')) {
      const std::uint32_t close = closing(at, end);
      list.push_back({StatementKind::block, {}, read_all({at + 1, close}, depth + 1), {}});
      at = std::min(close + 1, end);
    } else if (token.is_identifier() && read_word(list, at, end, depth)) {
      return;
    } else {
      read_expression(list, StatementKind::expression, at, at, end);
    }
  }

  void read_expression(std::vector<Statement>& list, StatementKind kind, std::uint32_t from,
                       std::uint32_t& at, std::uint32_t end) {
    at = behind_semicolon(from, end);
    const std::uint32_t last = at > from && tokens_[at - 1].is(';') ? at - 1 : at;
    list.push_back({kind, {from, last}, {}, {}});
  }

  // False where the word begins no statement of its own.
  bool read_word(std::vector<Statement>& list, std::uint32_t& at, std::uint32_t end,
                 unsigned depth) {
    const Token& word = tokens_[at];
    if (word.is("return") || word.is("co_return")) {
      read_expression(list, StatementKind::returns, at + 1, at, end);
    } else if (word.is("throw")) {
      read_expression(list, StatementKind::throws, at + 1, at, end);
    } else if (word.is("break") || word.is("continue")) {
      const StatementKind kind =
          word.is("break") ? StatementKind::breaks : StatementKind::continues;
      read_expression(list, kind, at + 1, at, end);
    } else if (word.is("case") || word.is("default")) {
      return read_label(list, at, end);
    } else if (word.is("if")) {
      read_if(list, at, end, depth);
    } else if (word.is("switch") || word.is("for") || word.is("while")) {
      return read_headed(list, at, end, depth);
    } else if (word.is("do")) {
      Statement loop{StatementKind::do_loop, {}, {}, {}};
      ++at;
      if (at < end) read_one(loop.body, at, end, depth + 1);
      if (at < end && tokens_[at].is("while")) at = behind_semicolon(at, end);
      list.push_back(std::move(loop));
    } else if (word.is("try")) {
      ++at;
    } else if (word.is("catch")) {
      // What is done about an exception is no part of the flow.
      ++at;
      if (is(at, end, '(')) at = std::min(closing(at, end) + 1, end);
      if (is(at, end, '{')) at = std::min(closing(at, end) + 1, end);
    } else if (word.is("else")) {
      ++at;
    } else {
      return false;
    }
    return true;
  }

  bool read_label(std::vector<Statement>& list, std::uint32_t& at, std::uint32_t end) {
    const bool is_case = tokens_[at].is("case");
    std::uint32_t colon = at + 1;
    while (colon < end && !tokens_[colon].is(':') && !tokens_[colon].is(';')) {
      if (tokens_[colon].is('(')) colon = closing(colon, end);
      ++colon;
    }
    // `= default;` is none.
    if (!is(colon, end, ':')) return false;
    list.push_back({is_case ? StatementKind::case_label : StatementKind::default_label,
                    {at + 1, colon},
                    {},
                    {}});
    at = colon + 1;
    return true;
  }

  void read_if(std::vector<Statement>& list, std::uint32_t& at, std::uint32_t end, unsigned depth) {
    Statement statement{StatementKind::if_, {}, {}, {}};
    ++at;
    if (at < end && tokens_[at].is("constexpr")) ++at;
    if (!is(at, end, '(')) return;
    const std::uint32_t close = closing(at, end);
    statement.tokens = {at + 1, close};
    // `if (declaration; condition)`
    const std::uint32_t condition = behind_semicolon(at + 1, close);
    if (condition < close) {
      list.push_back({StatementKind::expression, {at + 1, condition - 1}, {}, {}});
      statement.tokens.begin = condition;
    }
    at = std::min(close + 1, end);
    if (at < end) read_one(statement.body, at, end, depth + 1);
    if (at < end && tokens_[at].is("else")) {
      ++at;
      if (at < end) read_one(statement.otherwise, at, end, depth + 1);
    }
    list.push_back(std::move(statement));
  }

  bool read_headed(std::vector<Statement>& list, std::uint32_t& at, std::uint32_t end,
                   unsigned depth) {
    if (!is(at + 1, end, '(')) return false;
    const bool is_switch = tokens_[at].is("switch");
    const std::uint32_t close = closing(at + 1, end);
    Statement statement{
        is_switch ? StatementKind::switch_ : StatementKind::loop, {at + 2, close}, {}, {}};
    at = std::min(close + 1, end);
    if (is_switch && is(at, end, '{')) {
      const std::uint32_t last = closing(at, end);
      statement.body = read_all({at + 1, last}, depth + 1);
      at = std::min(last + 1, end);
    } else if (at < end) {
      read_one(statement.body, at, end, depth + 1);
    }
    list.push_back(std::move(statement));
    return true;
  }

  Tokens tokens_;
  const std::vector<std::uint32_t>& partners_;
};

}  // namespace

std::vector<Statement> read_statements(Tokens tokens, const std::vector<std::uint32_t>& partners,
                                       TokenRange body) {
  return StatementReader(tokens, partners).read_all(body, 0);
}

}  // namespace opseal
