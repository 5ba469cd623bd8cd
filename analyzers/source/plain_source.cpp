#include "analyzers/source/plain_source.h"

#include <algorithm>

#include "analyzers/source/header.h"

namespace opseal {
namespace {

class PlainReader {
 public:
  explicit PlainReader(PlainSource& source)
      : source_(source), unit_(source.unit), conditionals_(source.unit.conditions) {}

  void run() {
    Lexer lexer(unit_.bytes, unit_.arena);
    Token token;
    while (lexer.next(token)) {
      if (token.kind == TokenKind::directive) {
        read_directive(lexer);
        continue;
      }
      if (conditionals_.dead()) continue;
      if (unit_.tokens.size() >= most_tokens) {
        unit_.truncated = true;
        break;
      }
      if (row_.is_data(token)) continue;
      token.condition = conditionals_.current();
      unit_.tokens.push_back(token);
    }
    while (!open_.empty()) leave();
  }

 private:
  static constexpr std::size_t most_tokens = 2'000'000;
  // Deeper conditionals are no branches of their own.
  static constexpr std::size_t most_open = 64;

  std::uint32_t here() const { return static_cast<std::uint32_t>(unit_.tokens.size()); }

  void read_directive(Lexer& lexer) {
    auto& all = source_.directive_tokens;
    const std::size_t start = all.size();
    Token token;
    while (lexer.next(token) && token.kind != TokenKind::end_of_directive) all.push_back(token);
    if (all.size() == start || !all[start].is_identifier() || all.size() >= most_tokens) return;
    const std::string_view word = all[start].text;
    const TokenRange rest{static_cast<std::uint32_t>(start + 1),
                          static_cast<std::uint32_t>(all.size())};
    const std::uint32_t outer = conditionals_.current();
    if (conditionals_.read(word, source_.directive(rest))) {
      branch(word, rest, outer);
    } else if (!conditionals_.dead() && word == "define") {
      define(rest);
    } else if (!conditionals_.dead() && word == "include") {
      const std::string_view name = included_name(source_.directive(rest), unit_.bytes);
      if (!name.empty()) source_.includes.push_back(name);
    }
  }

  void branch(std::string_view word, TokenRange asks, std::uint32_t outer) {
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      if (open_.size() >= most_open) {
        ++too_deep_;
        return;
      }
      add(word, asks, outer);
      return;
    }
    if (too_deep_ > 0) {
      if (word == "endif") --too_deep_;
      return;
    }
    if (open_.empty()) return;
    const std::uint32_t before = open_.back();
    leave();
    if (word == "endif") return;
    source_.branches[before].next = static_cast<std::uint32_t>(source_.branches.size());
    add(word, word == "else" ? TokenRange() : asks, source_.branches[before].outer);
  }

  void add(std::string_view word, TokenRange asks, std::uint32_t outer) {
    open_.push_back(static_cast<std::uint32_t>(source_.branches.size()));
    SourceBranch made;
    made.word = word;
    made.asks = asks;
    made.tokens = {here(), here()};
    made.outer = outer;
    source_.branches.push_back(made);
  }

  void leave() {
    source_.branches[open_.back()].tokens.end = here();
    open_.pop_back();
  }

  void define(TokenRange rest) {
    const Tokens tokens = source_.directive(rest);
    if (tokens.empty() || !tokens[0].is_identifier()) return;
    SourceDefinition made;
    made.name = tokens[0].text;
    conditionals_.defines(made.name);
    made.condition = conditionals_.current();
    made.function_like = tokens.size() > 1 && tokens[1].is('(') && !tokens[1].space_before;
    made.body = {rest.begin + 1, rest.end};
    if (made.function_like) {
      made.body.begin += static_cast<std::uint32_t>(
          std::min(closing_bracket(tokens.subspan(1), 0) + 1, tokens.size() - 1));
    }
    source_.definitions.push_back(made);
    for (const std::uint32_t branch : open_) source_.branches[branch].defines = true;
  }

  NumberRow row_;
  PlainSource& source_;
  SourceUnit& unit_;
  Conditionals conditionals_;
  // The branches around the place, by their index.
  std::vector<std::uint32_t> open_;
  std::size_t too_deep_ = 0;
};

}  // namespace

std::uint32_t PlainSource::scope_of(std::uint32_t token) const {
  const auto behind =
      std::upper_bound(shape.scopes.begin(), shape.scopes.end(), token,
                       [](std::uint32_t at, const Scope& scope) { return at < scope.body.begin; });
  if (behind == shape.scopes.begin()) return no_scope;
  auto scope = static_cast<std::uint32_t>(behind - shape.scopes.begin()) - 1;
  while (scope != no_scope && shape.scopes[scope].body.end <= token) {
    scope = shape.scopes[scope].parent;
  }
  return scope;
}

void read_plain(FileId file, std::string_view bytes, PlainSource& source) {
  source.unit.clear();
  source.unit.file = file;
  source.unit.bytes = bytes;
  source.directive_tokens.clear();
  source.branches.clear();
  source.definitions.clear();
  source.includes.clear();
  PlainReader(source).run();
  find_invocations(source.unit, Vocabulary(), source.shape);
}

}  // namespace opseal
