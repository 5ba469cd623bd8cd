#include "analyzers/source/branches.h"

#include <cstdint>

namespace opseal {
namespace {

// A conditional within so many others is read as if it weren't there.
constexpr std::size_t most_depth = 64;

bool is_mark(const Token& token) { return token.kind == TokenKind::directive; }

bool ends_statement(const Token& token) {
  return is_mark(token) || token.is(';') || token.is('{') || token.is('}') || token.is(':');
}

class BranchReader {
 public:
  BranchReader(std::string_view bytes, TextArena& arena, std::vector<Token>& tokens,
               std::vector<SourceComment>& comments, std::span<const std::string_view> kept)
      : lexer_(bytes, arena), tokens_(tokens), comments_(comments) {
    lexer_.keep_comments(kept, comments);
  }

  void run() {
    for (Token token; lexer_.next(token);) {
      for (; comment_ < comments_.size(); ++comment_) {
        comments_[comment_].next_token = static_cast<std::uint32_t>(tokens_.size());
      }
      if (token.kind == TokenKind::directive) {
        read_directive(token);
      } else if (!row_.is_data(token)) {
        tokens_.push_back(token);
      }
    }
    for (; comment_ < comments_.size(); ++comment_) {
      comments_[comment_].next_token = static_cast<std::uint32_t>(tokens_.size());
    }
    while (!open_.empty()) close_conditional();
  }

 private:
  struct Conditional {
    // Of its first mark.
    std::size_t begin = 0;
    std::vector<std::size_t> changes;
    Token place;
    bool has_else = false;
    // The branch that is read is never compiled: `#if 0`.
    bool dead = false;
  };

  void read_directive(Token place) {
    std::vector<Token>& words = words_;
    words.clear();
    for (Token token; lexer_.next(token) && token.kind != TokenKind::end_of_directive;) {
      if (words.size() < 2) words.push_back(token);
    }
    if (words.empty()) return;
    const std::string_view word = words[0].text;
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      if (open_.size() >= most_depth) {
        ++too_deep_;
        return;
      }
      Conditional conditional;
      conditional.begin = tokens_.size();
      conditional.place = place;
      conditional.dead = word == "if" && words.size() > 1 && words[1].text == "0";
      open_.push_back(std::move(conditional));
      add_mark(place, branch_begins);
    } else if (word == "else" || word.starts_with("elif")) {
      if (open_.empty() || too_deep_ > 0) return;
      drop_dead();
      open_.back().changes.push_back(tokens_.size());
      open_.back().has_else = open_.back().has_else || word == "else";
      add_mark(place, branch_changes);
    } else if (word == "endif") {
      if (too_deep_ > 0) {
        --too_deep_;
      } else if (!open_.empty()) {
        close_conditional();
      }
    }
  }

  void add_mark(Token place, std::string_view text) {
    place.text = text;
    tokens_.push_back(place);
  }

  void drop_dead() {
    Conditional& conditional = open_.back();
    if (!conditional.dead) return;
    tokens_.resize(conditional.begin + 1);
    conditional.dead = false;
  }

  void close_conditional() {
    drop_dead();
    const Conditional conditional = std::move(open_.back());
    open_.pop_back();
    if (divides_statements(conditional)) {
      // Without `#else` there may be nothing at all.
      if (!conditional.has_else) add_mark(conditional.place, branch_changes);
      add_mark(conditional.place, branch_ends);
      return;
    }
    take_one(conditional);
  }

  bool divides_statements(const Conditional& conditional) const {
    if (conditional.begin > 0 && !ends_statement(tokens_[conditional.begin - 1])) return false;
    std::size_t from = conditional.begin + 1;
    for (std::size_t branch = 0; branch <= conditional.changes.size(); ++branch) {
      const std::size_t to =
          branch < conditional.changes.size() ? conditional.changes[branch] : tokens_.size();
      if (!is_whole(from, to)) return false;
      from = to + 1;
    }
    return true;
  }

  // Brackets match within the branch, and it ends as a statement does.
  bool is_whole(std::size_t from, std::size_t to) const {
    if (from < to && !ends_statement(tokens_[to - 1])) return false;
    if (from < to && tokens_[from].is("else")) return false;
    std::size_t depth = 0;
    for (std::size_t at = from; at < to; ++at) {
      const Token& token = tokens_[at];
      if (token.is('{') || token.is('(') || token.is('[')) ++depth;
      if (token.is('}') || token.is(')') || token.is(']')) {
        if (depth == 0) return false;
        --depth;
      }
    }
    return depth == 0;
  }

  // The first branch that has tokens.
  void take_one(const Conditional& conditional) {
    std::size_t from = conditional.begin + 1;
    std::size_t to = from;
    for (std::size_t branch = 0; branch <= conditional.changes.size(); ++branch) {
      to = branch < conditional.changes.size() ? conditional.changes[branch] : tokens_.size();
      if (from < to) break;
      from = to + 1;
    }
    const auto at = [this](std::size_t index) {
      return tokens_.begin() + static_cast<std::ptrdiff_t>(index);
    };
    tokens_.erase(at(to), tokens_.end());
    tokens_.erase(at(conditional.begin), at(std::min(from, to)));
  }

  Lexer lexer_;
  NumberRow row_;
  std::vector<Token>& tokens_;
  std::vector<SourceComment>& comments_;
  std::size_t comment_ = 0;
  std::vector<Conditional> open_;
  std::size_t too_deep_ = 0;
  std::vector<Token> words_;
};

}  // namespace

void read_branches(std::string_view bytes, TextArena& arena, std::vector<Token>& tokens,
                   std::vector<SourceComment>& comments,
                   std::span<const std::string_view> kept_comments) {
  tokens.clear();
  comments.clear();
  // Few sources have more bytes to a token.
  tokens.reserve(bytes.size() / 8);
  BranchReader(bytes, arena, tokens, comments, kept_comments).run();
}

}  // namespace opseal
