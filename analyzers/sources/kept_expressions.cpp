#include "analyzers/sources/kept_expressions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace opseal {
namespace {

// Casts, choices and braces around an expression.
constexpr int most_layers = 6;
// Tokens of one arm of a choice, of a type, and of a list in braces.
constexpr std::uint32_t most_tokens = 512;

// Members of containers that keep what they are given.
constexpr std::array<std::string_view, 5> adding{"push_back", "emplace_back", "push", "emplace",
                                                 "insert"};

// Give a pointer, in another wrapping.
bool is_pointer_wrapper(const Token& token) {
  return token.text.ends_with("_cast") || token.is("device_ptr");
}

bool ends_statement(const Token& token) { return token.is(';') || token.is('{') || token.is('}'); }

}  // namespace

std::uint32_t KeptExpressions::opening(std::uint32_t close) const {
  const std::uint32_t open = partners_[close];
  return open != no_token && open < close ? open : no_token;
}

std::uint32_t KeptExpressions::closing(std::uint32_t open) const {
  const std::uint32_t close = partners_[open];
  return close != no_token && close > open ? close : no_token;
}

bool KeptExpressions::is_kept(std::uint32_t start, std::uint32_t end) const {
  Range range{start, end};
  for (int layer = 0; layer < most_layers; ++layer) {
    if (range.end >= tokens_.size() || range.start == 0) return false;
    const Token& before = tokens_[range.start - 1];
    // An offset into the memory: `x.contiguous().data_ptr<float>() + offset`.
    if (tokens_[range.end].is('+')) range.end = end_of_arm(range.end + 1);
    if (range.end >= tokens_.size()) return false;
    if (tokens_[range.end].is(';') && (before.is("return") || before.is('='))) return true;
    if (is_added_to_container(range) || is_value_of_declaration(range)) return true;
    if (!unwrap_cast(range) && !unwrap_choice(range) && !unwrap_list(range)) return false;
  }
  return false;
}

// `(T*)expression`, `reinterpret_cast<T*>(expression)`, `thrust::device_pointer_cast(expression)`.
bool KeptExpressions::unwrap_cast(Range& range) const {
  const Token& before = tokens_[range.start - 1];
  if (before.is(')')) {
    const std::uint32_t open = opening(range.start - 1);
    if (open == no_token || range.start < 3 || !is(range.start - 2, '*')) return false;
    range.start = open;
    return true;
  }
  if (!before.is('(') || !is(range.end, ')') || range.start < 2) return false;
  std::uint32_t name = range.start - 2;
  if (tokens_[name].is('>')) {
    std::size_t depth = 0;
    bool to_pointer = false;
    const std::uint32_t stop = name - std::min(name, most_tokens);
    for (; name > stop; --name) {
      if (tokens_[name].is('>')) ++depth;
      if (tokens_[name].is('*')) to_pointer = true;
      if (tokens_[name].is('<') && --depth == 0) break;
    }
    if (name == stop) return false;
    --name;
    if (!to_pointer && !tokens_[name].is("device_ptr")) return false;
  }
  if (!is_pointer_wrapper(tokens_[name])) return false;
  while (name >= 2 && tokens_[name - 1].is("::") && tokens_[name - 2].is_identifier()) name -= 2;
  range = {name, range.end + 1};
  return true;
}

// Where an arm of a choice, or an operand, ends: at `:`, `;`, a comma or a bracket around it.
std::uint32_t KeptExpressions::end_of_arm(std::uint32_t at) const {
  const auto size = static_cast<std::uint32_t>(tokens_.size());
  const std::uint32_t stop = std::min(size, at + most_tokens);
  while (at < stop) {
    const Token& token = tokens_[at];
    if (token.is('(') || token.is('[') || token.is('{')) {
      const std::uint32_t close = closing(at);
      if (close == no_token) return size;
      at = close + 1;
      continue;
    }
    if (token.is(':') || token.is(';') || token.is(',') || token.is(')') || token.is(']') ||
        token.is('}')) {
      return at;
    }
    ++at;
  }
  return size;
}

// Back over a condition or an arm that ends before `at`: the index of its first token.
std::uint32_t KeptExpressions::before_operand(std::uint32_t at) const {
  const std::uint32_t stop = at - std::min(at, most_tokens);
  while (at > stop) {
    const Token& token = tokens_[at - 1];
    if (token.is(')') || token.is(']')) {
      const std::uint32_t open = opening(at - 1);
      if (open == no_token) return at;
      at = open;
      continue;
    }
    if (token.is('=') || token.is("return") || token.is(',') || token.is('(') || token.is('[') ||
        token.is('?') || token.is(':') || ends_statement(token)) {
      return at;
    }
    --at;
  }
  return at;
}

// `condition ? expression : other`, `condition ? other : expression`.
bool KeptExpressions::unwrap_choice(Range& range) const {
  const Token& before = tokens_[range.start - 1];
  if (before.is('?') && is(range.end, ':')) {
    range.end = end_of_arm(range.end + 1);
    if (range.end >= tokens_.size()) return false;
    range.start = before_operand(range.start - 1);
    return true;
  }
  if (!before.is(':')) return false;
  const std::uint32_t arm = before_operand(range.start - 1);
  // A label has none.
  if (arm == 0 || !tokens_[arm - 1].is('?')) return false;
  range.start = before_operand(arm - 1);
  return true;
}

// The brace that opens the list which holds a token, or no_token.
std::uint32_t KeptExpressions::list_around(std::uint32_t at) const {
  const std::uint32_t stop = at - std::min(at, most_tokens);
  while (at > stop) {
    const Token& token = tokens_[--at];
    if (token.is(')') || token.is(']') || token.is('}')) {
      const std::uint32_t open = opening(at);
      if (open == no_token) return no_token;
      at = open;
    } else if (token.is('{')) {
      return at;
    } else if (token.is(';') || token.is('(') || token.is('[')) {
      return no_token;
    }
  }
  return no_token;
}

// `{a, expression, b}`, `{.x = expression}`: an initializer, the list as a whole is the expression.
bool KeptExpressions::unwrap_list(Range& range) const {
  std::uint32_t start = range.start;
  if (tokens_[start - 1].is('=') && start >= 4 && tokens_[start - 2].is_identifier() &&
      tokens_[start - 3].is('.')) {
    start -= 3;
  }
  if (!is(start - 1, ',') && !is(start - 1, '{')) return false;
  if (!is(range.end, ',') && !is(range.end, '}')) return false;
  const std::uint32_t open = list_around(start);
  if (open == no_token || open == 0) return false;
  const std::uint32_t close = closing(open);
  if (close == no_token || close < range.end) return false;
  range = {open, close + 1};
  return true;
}

// `void* arguments[]{…};`, `Parameters parameters{…};`: as if `=` stood between. `Parameters{…}` is
// a temporary itself, and may be an argument.
bool KeptExpressions::is_value_of_declaration(const Range& list) const {
  if (!is(list.start, '{') || !is(list.end, ';') || list.start < 2) return false;
  std::uint32_t name = list.start - 1;
  if (is(name, ']')) {
    name = opening(name);
    if (name == no_token || name < 2) return false;
    --name;
  }
  const Token& type = tokens_[name - 1];
  return tokens_[name].is_identifier() && !type.is("return") &&
         (type.is_identifier() || type.is('*') || type.is('>'));
}

bool KeptExpressions::is_added_to_container(const Range& range) const {
  if (range.start < 3 || !is(range.start - 1, '(') || !is(range.end, ')')) return false;
  const Token& name = tokens_[range.start - 2];
  const bool is_member = tokens_[range.start - 3].is('.') || tokens_[range.start - 3].is("->");
  return is_member && std::find(adding.begin(), adding.end(), name.text) != adding.end();
}

}  // namespace opseal
