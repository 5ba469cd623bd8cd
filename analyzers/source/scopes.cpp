// What a pair of braces is, told by what stands before it.

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "analyzers/source/invocations.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// What stands before a brace is looked at so far back.
constexpr std::uint32_t most_head = 256;

bool is_one_of(const Token& token, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), token.text) != words.end();
}

bool is_class_key(const Token& token) {
  return token.is_identifier() && is_one_of(token, {"class", "struct", "union", "enum"});
}

// Words with brackets that aren't the name of what is declared.
bool takes_brackets(const Token& token) {
  return is_one_of(token, {"__attribute__", "__declspec", "alignas", "decltype",
                           "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "explicit",
                           "noexcept", "requires", "sizeof", "typeof", "__typeof__"});
}

bool may_follow_parameters(const Token& token) {
  return is_one_of(token, {"const", "volatile", "noexcept", "override", "final", "mutable", "try",
                           "constexpr", "requires"});
}

class HeadReader {
 public:
  HeadReader(const SourceUnit& unit, const std::vector<std::uint32_t>& partners, std::uint32_t open)
      : tokens_(unit.tokens), partners_(partners), end_(open) {
    scope_.body = {open + 1, partners[open]};
    find_start();
  }

  Scope read() {
    if (start_ == end_) return scope_;
    if (is_lambda() || is_namespace() || is_linkage() || is_type()) return scope_;
    read_function();
    return scope_;
  }

 private:
  // The index of the bracket that opens the one at `at`, or `at` itself.
  std::uint32_t opening(std::uint32_t at) const {
    const bool closes = tokens_[at].is(')') || tokens_[at].is(']');
    return closes && partners_[at] != no_token && partners_[at] < at ? partners_[at] : at;
  }

  // Back to the end of what stands before: a statement, a block, or the bracket around.
  void find_start() {
    start_ = end_;
    for (std::uint32_t steps = 0; start_ > 0 && steps < most_head; ++steps) {
      const Token& before = tokens_[start_ - 1];
      if (before.is(';') || before.is('{') || before.is('}') || before.is('(') || before.is('[')) {
        return;
      }
      // In `{{…}, {` it divides; elsewhere it belongs to template arguments, bases or initializers.
      if (before.is(',') && start_ == end_) return;
      start_ = opening(start_ - 1);
    }
  }

  bool is_lambda() {
    std::uint32_t at = end_;
    // `-> type`, `mutable` and the like; a few tokens.
    for (int steps = 0; at > start_ && steps < 32; ++steps) {
      const std::uint32_t last = at - 1;
      if (tokens_[last].is(']')) break;
      if (tokens_[last].is(')')) {
        const std::uint32_t open = opening(last);
        if (open == last || open <= start_) return false;
        if (tokens_[open - 1].is(']')) {
          scope_.parameters = {open + 1, last};
          at = open;
          break;
        }
        at = open;
        continue;
      }
      --at;
    }
    if (at <= start_ || !tokens_[at - 1].is(']')) return false;
    const std::uint32_t capture = opening(at - 1);
    if (capture == at - 1) return false;
    // `a[1] {` and `[[attribute]]` are none.
    if (capture > 0 && capture > start_) {
      const Token& before = tokens_[capture - 1];
      if (before.is(')') || before.is(']') || before.is('[')) return false;
      if (before.is_identifier() && !before.is("return")) return false;
    }
    if (capture + 1 < end_ && tokens_[capture + 1].is('[')) return false;
    scope_.kind = ScopeKind::lambda;
    return true;
  }

  bool is_namespace() {
    std::uint32_t at = start_;
    if (tokens_[at].is("inline") && at + 1 < end_) ++at;
    if (!tokens_[at].is("namespace")) return false;
    scope_.kind = ScopeKind::name_space;
    for (++at; at < end_; ++at) {
      // Attributes and macros with brackets are no part of the name.
      if (tokens_[at].is('[') || tokens_[at].is('(')) {
        if (partners_[at] != no_token && partners_[at] < end_) at = partners_[at];
        continue;
      }
      if (tokens_[at].is("::") || tokens_[at].is_identifier()) name_with(at);
    }
    return true;
  }

  void name_with(std::uint32_t at) {
    scope_.name += tokens_[at].text;
    scope_.name_token = at;
  }

  bool is_linkage() {
    if (end_ - start_ != 2 || !tokens_[start_].is("extern") || !tokens_[start_ + 1].is_string()) {
      return false;
    }
    scope_.kind = ScopeKind::linkage;
    return true;
  }

  // Behind `template <…>`, which may have `class` in it.
  std::uint32_t behind_template() const {
    std::uint32_t at = start_;
    while (at + 1 < end_ && tokens_[at].is("template") && tokens_[at + 1].is('<')) {
      std::size_t depth = 0;
      for (++at; at < end_; ++at) {
        if (tokens_[at].is('<')) ++depth;
        if (tokens_[at].is('>') && --depth == 0) break;
      }
      at = std::min(at + 1, end_);
    }
    return at;
  }

  bool is_type() {
    const std::uint32_t start = behind_template();
    std::uint32_t key = start;
    while (key < end_ && !is_class_key(tokens_[key])) {
      if (tokens_[key].is('(') || tokens_[key].is('=')) return false;
      ++key;
    }
    if (key >= end_) return false;
    // `struct A f() {`
    const Token& last = tokens_[end_ - 1];
    if (last.is(')') || may_follow_parameters(last)) {
      if (!last.is("final")) return false;
    }
    scope_.kind = ScopeKind::type;
    for (std::uint32_t at = key + 1; at < end_ && !tokens_[at].is(':'); ++at) {
      if (tokens_[at].is('<')) break;
      if (tokens_[at].is('(') || tokens_[at].is('[')) {
        if (partners_[at] != no_token && partners_[at] < end_) at = partners_[at];
        continue;
      }
      if (!tokens_[at].is_identifier() || tokens_[at].is("final") || is_class_key(tokens_[at])) {
        continue;
      }
      // The last word is the name, those before it are macros.
      if (at == 0 || !tokens_[at - 1].is("::")) scope_.name.clear();
      if (!scope_.name.empty()) scope_.name += "::";
      name_with(at);
    }
    return true;
  }

  bool is_statement(const Token& token) const {
    return is_one_of(token,
                     {"if", "for", "while", "switch", "do", "else", "try", "catch", "return"});
  }

  // Nothing but `PROJECT_NOEXCEPT`, `override` and the like stands up to the brace.
  bool only_marks(std::uint32_t at) const {
    for (; at < end_; ++at) {
      const Token& token = tokens_[at];
      if (!token.is_identifier()) return false;
      if (!may_follow_parameters(token) && (!is_upper(token.text) || token.text.size() < 3)) {
        return false;
      }
    }
    return true;
  }

  void read_function() {
    std::uint32_t at = behind_template();
    if (at >= end_ || is_statement(tokens_[at])) return;
    for (; at < end_; ++at) {
      const Token& token = tokens_[at];
      if (token.is('=') && (at == start_ || !tokens_[at - 1].is("operator"))) return;
      if (!token.is('(') || at == start_) continue;
      const std::uint32_t close = partners_[at];
      if (close == no_token || close >= end_) return;
      const Token& word = tokens_[at - 1];
      if (is_statement(word)) return;
      const bool is_name = word.is_identifier() && !takes_brackets(word);
      const bool is_operator = at >= 2 && tokens_[at - 2].is("operator");
      const Token& next = tokens_[close + 1];
      // `MACRO(x) void f() {`: a declaration goes on behind the brackets.
      const bool goes_on = close + 1 < end_ && next.is_identifier() &&
                           !may_follow_parameters(next) && !only_marks(close + 1);
      // `operator()(…)`.
      const bool is_call_operator = word.is("operator");
      if ((is_name || is_operator) && !goes_on && !is_call_operator) {
        take_function(at, close);
        return;
      }
      if (is_call_operator && close + 1 < end_ && next.is('(') && partners_[close + 1] < end_) {
        scope_.kind = ScopeKind::function;
        scope_.name = "operator()";
        scope_.name_token = at - 1;
        scope_.parameters = {close + 2, partners_[close + 1]};
        return;
      }
      at = close;
    }
  }

  void take_function(std::uint32_t open, std::uint32_t close) {
    scope_.kind = ScopeKind::function;
    scope_.parameters = {open + 1, close};
    scope_.name_token = open - 1;
    std::uint32_t first = open - 1;
    if (first > start_ && (tokens_[first - 1].is("operator") || tokens_[first - 1].is('~')))
      --first;
    while (first >= start_ + 2 && tokens_[first - 1].is("::") &&
           tokens_[first - 2].is_identifier()) {
      first -= 2;
    }
    for (std::uint32_t at = first; at < open; ++at) scope_.name += tokens_[at].text;
  }

  const std::vector<Token>& tokens_;
  const std::vector<std::uint32_t>& partners_;
  // What stands before the brace, and belongs to it.
  std::uint32_t start_ = 0;
  std::uint32_t end_;
  Scope scope_;
};

}  // namespace

Scope scope_at(const SourceUnit& unit, const std::vector<std::uint32_t>& partners,
               std::uint32_t open) {
  return HeadReader(unit, partners, open).read();
}

}  // namespace opseal
