#include "opseal/build_condition.h"

#include <algorithm>
#include <utility>

#include "analyzers/source/tokens.h"

namespace opseal {
namespace {

// Beyond these an expression is one word: conjunctions of disjunctions multiply.
constexpr std::size_t most_clauses = 32;
constexpr std::size_t most_words = 16;
constexpr std::size_t most_bytes = 4096;
constexpr int most_depth = 32;

bool is_comparison(const Token& token) {
  return token.kind == TokenKind::punctuator &&
         (token.is("==") || token.is("!=") || token.is("<") || token.is(">") || token.is("<=") ||
          token.is(">="));
}

bool is_word(const Token& token) {
  return token.kind == TokenKind::identifier || token.kind == TokenKind::number;
}

bool is_bracket_or_not(const Token& token) {
  return token.is('(') || token.is(')') || token.is('!') || token.is("::") || token.is('.');
}

// The same for all ways to set blanks.
std::string even_text(Tokens tokens) {
  std::string text;
  const Token* before = nullptr;
  for (const Token& token : tokens) {
    const bool both_words = before != nullptr && is_word(*before) && is_word(token);
    const bool at_operator = before != nullptr && !is_bracket_or_not(*before) &&
                             !is_bracket_or_not(token) && !token.is(',');
    if (both_words || at_operator) text += ' ';
    text += token.text;
    before = &token;
  }
  return text;
}

// Where a part first stands in no round brackets.
std::size_t outside_brackets(std::string_view text, std::string_view part) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && depth > 0) --depth;
    if (depth == 0 && text.substr(at).starts_with(part)) return at;
  }
  return text.npos;
}

bool is_zero(std::string_view number) {
  return number.find_first_of("123456789abcdefABCDEF") == number.npos;
}

}  // namespace

class BuildConditionReader {
 public:
  explicit BuildConditionReader(Tokens tokens) : tokens_(tokens) {}

  BuildCondition read() {
    BuildCondition condition = read_or(0);
    // What isn't an expression, or has `?`, is one word.
    return failed_ || at_ != tokens_.size() ? word(even_text(tokens_), false) : condition;
  }

  // A condition that is one word.
  static BuildCondition word(std::string text, bool negated) {
    BuildCondition condition;
    condition.clauses_.push_back({{std::move(text), negated}});
    return condition;
  }

  static BuildCondition never() {
    BuildCondition condition;
    condition.clauses_.emplace_back();
    return condition;
  }

  // False where it grows too large.
  static bool either(const BuildCondition& left, const BuildCondition& right, BuildCondition& out) {
    BuildCondition made;
    if (left.clauses_.size() * right.clauses_.size() > most_clauses) return false;
    for (const BuildCondition::Clause& a : left.clauses_) {
      for (const BuildCondition::Clause& b : right.clauses_) {
        BuildCondition::Clause clause = a;
        for (const BuildCondition::Word& word : b) {
          if (std::find(clause.begin(), clause.end(), word) == clause.end()) clause.push_back(word);
        }
        if (clause.size() > most_words) return false;
        made.add(clause);
      }
    }
    out = std::move(made);
    return true;
  }

 private:
  bool at(std::string_view spelling) const {
    return at_ < tokens_.size() && tokens_[at_].text == spelling;
  }

  bool at_end_of_operand() const {
    return at_ >= tokens_.size() || at("&&") || at("||") || at(")");
  }

  BuildCondition read_or(int depth) {
    const std::size_t start = at_;
    BuildCondition condition = read_and(depth);
    bool too_large = false;
    while (at("||")) {
      ++at_;
      const BuildCondition right = read_and(depth);
      too_large = too_large || !either(condition, right, condition);
    }
    return too_large ? word("(" + even_text(tokens_.subspan(start, at_ - start)) + ")", false)
                     : condition;
  }

  BuildCondition read_and(int depth) {
    BuildCondition condition = read_operand(depth);
    while (at("&&")) {
      ++at_;
      condition = condition && read_operand(depth);
    }
    return condition;
  }

  BuildCondition read_operand(int depth) {
    if (depth > most_depth || at_ >= tokens_.size()) {
      failed_ = true;
      return {};
    }
    const std::size_t start = at_;
    if (at("!")) {
      ++at_;
      const BuildCondition inner = read_operand(depth + 1);
      if (at_end_of_operand()) return !inner;
    } else if (at("(")) {
      ++at_;
      const BuildCondition inner = read_or(depth + 1);
      if (at(")")) {
        ++at_;
        if (at_end_of_operand()) return inner;
      }
    }
    at_ = start;
    return read_word();
  }

  BuildCondition read_word() {
    const std::size_t start = at_;
    while (!at_end_of_operand()) {
      if (at("?")) failed_ = true;
      if (at("(")) at_ = std::min(closing_bracket(tokens_, at_), tokens_.size() - 1);
      ++at_;
    }
    return condition_of(tokens_.subspan(start, at_ - start));
  }

  BuildCondition condition_of(Tokens word_tokens) {
    if (word_tokens.empty()) {
      failed_ = true;
      return {};
    }
    const Token& first = word_tokens[0];
    if (word_tokens.size() == 1) {
      const bool is_number = first.kind == TokenKind::number;
      if (first.is("true") || (is_number && !is_zero(first.text))) return {};
      if (first.is("false") || is_number) return never();
    }
    if (first.is("defined")) {
      if (word_tokens.size() == 2) return defined(word_tokens[1]);
      if (word_tokens.size() == 4 && word_tokens[1].is('(')) return defined(word_tokens[2]);
    }
    return comparison(word_tokens);
  }

  static BuildCondition defined(const Token& name) {
    return word("defined(" + std::string(name.text) + ")", false);
  }

  // Of six comparisons three are the others negated.
  static BuildCondition comparison(Tokens word_tokens) {
    std::size_t found = word_tokens.size();
    for (std::size_t i = 0; i < word_tokens.size(); ++i) {
      if (word_tokens[i].is('(')) i = closing_bracket(word_tokens, i);
      if (i >= word_tokens.size() || !is_comparison(word_tokens[i])) continue;
      if (found != word_tokens.size()) return word(even_text(word_tokens), false);
      found = i;
    }
    if (found == word_tokens.size()) return word(even_text(word_tokens), false);
    const std::string_view sign = word_tokens[found].text;
    const bool negated = sign == "!=" || sign == "<" || sign == ">";
    const std::string_view kept = sign == "!="  ? "=="
                                  : sign == "<" ? ">="
                                  : sign == ">" ? "<="
                                                : sign;
    return word(even_text(word_tokens.subspan(0, found)) + " " + std::string(kept) + " " +
                    even_text(word_tokens.subspan(found + 1)),
                negated);
  }

  Tokens tokens_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

BuildCondition BuildCondition::of(std::string_view expression) {
  if (expression.size() > most_bytes) {
    return BuildConditionReader::word(std::string(expression.substr(0, most_bytes)), false);
  }
  TextArena arena;
  Lexer lexer(expression, arena);
  std::vector<Token> tokens;
  for (Token token; lexer.next(token);) {
    // No expression has a `#` at its start.
    if (token.kind != TokenKind::directive && token.kind != TokenKind::end_of_directive) {
      tokens.push_back(token);
    }
  }
  return BuildConditionReader(tokens).read();
}

void BuildCondition::add(const Clause& clause) {
  const auto says = [&clause](const Clause& other) {
    return std::all_of(other.begin(), other.end(), [&clause](const Word& word) {
      return std::find(clause.begin(), clause.end(), word) != clause.end();
    });
  };
  for (const Word& word : clause) {
    const Word opposite{word.text, !word.negated};
    if (std::find(clause.begin(), clause.end(), opposite) != clause.end()) return;
  }
  if (std::none_of(clauses_.begin(), clauses_.end(), says)) clauses_.push_back(clause);
}

BuildCondition BuildCondition::operator!() const {
  BuildCondition negation = BuildConditionReader::never();
  for (const Clause& clause : clauses_) {
    BuildCondition part;
    for (const Word& word : clause) part.add({{word.text, !word.negated}});
    if (!BuildConditionReader::either(negation, part, negation)) {
      return BuildConditionReader::word("(" + text() + ")", true);
    }
  }
  return negation;
}

BuildCondition BuildCondition::operator&&(const BuildCondition& other) const {
  BuildCondition both = *this;
  for (const Clause& clause : other.clauses_) both.add(clause);
  return both;
}

// Unit propagation: a clause of which all words but one are false makes that one true.
bool BuildCondition::never() const {
  std::vector<Word> facts;
  const auto is_fact = [&facts](const std::string& text, bool negated) {
    return std::any_of(facts.begin(), facts.end(), [&](const Word& fact) {
      return fact.negated == negated && fact.text == text;
    });
  };
  for (bool learned = true; learned;) {
    learned = false;
    for (const Clause& clause : clauses_) {
      const Word* open = nullptr;
      std::size_t open_words = 0;
      bool satisfied = false;
      for (const Word& word : clause) {
        satisfied = satisfied || is_fact(word.text, word.negated);
        if (is_fact(word.text, !word.negated)) continue;
        open = &word;
        ++open_words;
      }
      if (satisfied) continue;
      if (open_words == 0) return true;
      if (open_words > 1) continue;
      facts.push_back(*open);
      learned = true;
    }
  }
  return false;
}

bool BuildCondition::implies(const BuildCondition& other) const {
  return std::all_of(other.clauses_.begin(), other.clauses_.end(), [this](const Clause& clause) {
    BuildCondition against = *this;
    for (const Word& word : clause) against.add({{word.text, !word.negated}});
    return against.never();
  });
}

std::string BuildCondition::text_of(const Word& word) {
  if (!word.negated) return word.text;
  for (const auto& [kept, opposite] :
       {std::pair{" >= ", " < "}, std::pair{" <= ", " > "}, std::pair{" == ", " != "}}) {
    const std::size_t at = outside_brackets(word.text, kept);
    if (at != word.text.npos) return word.text.substr(0, at) + opposite + word.text.substr(at + 4);
  }
  const bool is_one = outside_brackets(word.text, " ") == word.text.npos;
  return is_one ? "!" + word.text : "!(" + word.text + ")";
}

std::string BuildCondition::text() const {
  std::string text;
  for (const Clause& clause : clauses_) {
    if (!text.empty()) text += " && ";
    std::string part;
    for (const Word& word : clause) part += (part.empty() ? "" : " || ") + text_of(word);
    if (clause.empty()) part = "0";
    text += clause.size() > 1 && clauses_.size() > 1 ? "(" + part + ")" : part;
  }
  return text;
}

}  // namespace opseal
