#include "analyzers/source/without_macro.h"

#include <array>
#include <charconv>

namespace opseal {
namespace {

using Value = std::optional<long long>;

std::optional<bool> truth_of(const Value& value) {
  if (!value) return std::nullopt;
  return *value != 0;
}

Value value_of(std::optional<bool> truth) {
  if (!truth) return std::nullopt;
  return *truth ? 1 : 0;
}

bool is_comparison(const Token& token) {
  constexpr std::array<std::string_view, 6> all{"==", "!=", "<", ">", "<=", ">="};
  for (const std::string_view one : all) {
    if (token.is(one)) return true;
  }
  return false;
}

class ConditionReader {
 public:
  ConditionReader(Tokens tokens, std::string_view macro) : tokens_(tokens), macro_(macro) {}

  WithoutMacro read() {
    const std::optional<bool> truth = truth_of(read_either(0));
    WithoutMacro result;
    result.compares = compares_;
    if (!failed_ && at_ == tokens_.size()) result.truth = truth;
    return result;
  }

 private:
  // Beyond it nothing is known.
  static constexpr int most_depth = 32;

  bool at(std::string_view spelling) const {
    return at_ < tokens_.size() && tokens_[at_].is(spelling);
  }

  // A lone value stays one: `(X) >= (800)`.
  Value read_either(int depth) {
    const Value first = read_both(depth);
    if (!at("||")) return first;
    std::optional<bool> all = truth_of(first);
    while (!failed_ && at("||")) {
      ++at_;
      const std::optional<bool> right = truth_of(read_both(depth));
      if (all == true || right == true) {
        all = true;
      } else if (!all || !right) {
        all = std::nullopt;
      }
    }
    return value_of(all);
  }

  Value read_both(int depth) {
    const Value first = read_comparison(depth);
    if (!at("&&")) return first;
    std::optional<bool> all = truth_of(first);
    while (!failed_ && at("&&")) {
      ++at_;
      const std::optional<bool> right = truth_of(read_comparison(depth));
      if (all == false || right == false) {
        all = false;
      } else if (!all || !right) {
        all = std::nullopt;
      }
    }
    return value_of(all);
  }

  Value read_comparison(int depth) {
    const std::size_t start = at_;
    const Value left = read_operand(depth);
    if (failed_ || at_ >= tokens_.size() || !is_comparison(tokens_[at_])) return left;
    const std::string_view sign = tokens_[at_++].text;
    const Value right = read_operand(depth);
    for (std::size_t token = start; token < at_; ++token) {
      if (tokens_[token].is(macro_)) compares_ = true;
    }
    if (!left || !right) return std::nullopt;
    return compare(*left, sign, *right) ? 1 : 0;
  }

  static bool compare(long long left, std::string_view sign, long long right) {
    if (sign == "==") return left == right;
    if (sign == "!=") return left != right;
    if (sign == "<") return left < right;
    if (sign == ">") return left > right;
    return sign == "<=" ? left <= right : left >= right;
  }

  Value read_operand(int depth) {
    if (depth >= most_depth || at_ >= tokens_.size()) {
      failed_ = true;
      return std::nullopt;
    }
    if (at("!")) {
      ++at_;
      const Value value = read_operand(depth + 1);
      return value ? Value(*value == 0 ? 1 : 0) : std::nullopt;
    }
    if (at("(")) {
      ++at_;
      const Value value = read_either(depth + 1);
      failed_ = failed_ || !at(")");
      ++at_;
      return value;
    }
    if (at("defined")) return read_defined();
    const Token& token = tokens_[at_++];
    if (token.kind == TokenKind::number) return number(token.text);
    if (token.is_identifier()) {
      // `__has_include(…)` and macros with arguments.
      if (at("(")) failed_ = true;
      return token.is(macro_) ? Value(0) : std::nullopt;
    }
    failed_ = true;
    return std::nullopt;
  }

  Value read_defined() {
    ++at_;
    const bool bracket = at("(");
    if (bracket) ++at_;
    if (at_ >= tokens_.size()) {
      failed_ = true;
      return std::nullopt;
    }
    const bool is_macro = tokens_[at_++].is(macro_);
    if (bracket) {
      failed_ = failed_ || !at(")");
      ++at_;
    }
    return is_macro ? Value(0) : std::nullopt;
  }

  static Value number(std::string_view text) {
    long long value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view rest = text.substr(static_cast<std::size_t>(end.ptr - text.data()));
    const bool suffix = rest.find_first_not_of("uUlL") == rest.npos;
    if (end.ec != std::errc() || !suffix) return std::nullopt;
    return value;
  }

  Tokens tokens_;
  std::string_view macro_;
  std::size_t at_ = 0;
  bool compares_ = false;
  bool failed_ = false;
};

}  // namespace

WithoutMacro without_macro(Tokens condition, std::string_view macro) {
  return ConditionReader(condition, macro).read();
}

}  // namespace opseal
