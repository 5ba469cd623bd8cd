#include "analyzers/source/tokens.h"

#include <algorithm>
#include <cstring>

#include "opseal/ascii.h"
#include "opseal/utf8.h"

namespace opseal {
namespace {

bool is_octal(char byte) { return byte >= '0' && byte <= '7'; }

// Reads hexadecimal digits, at most so many; `at` is behind them.
unsigned read_hex(std::string_view text, std::size_t& at, std::size_t most) {
  unsigned value = 0;
  for (; most > 0 && at < text.size() && hex_value(text[at]) < 16; --most) {
    value = (value << 4 | hex_value(text[at++])) & 0xfffffff;
  }
  return value;
}

// Adds what the escape says whose letter is at `at`, and passes over it.
void add_escape(std::string& value, std::string_view text, std::size_t& at) {
  const char letter = text[at++];
  switch (letter) {
    case 'n':
      value += '\n';
      return;
    case 't':
      value += '\t';
      return;
    case 'r':
      value += '\r';
      return;
    case 'a':
      value += '\a';
      return;
    case 'b':
      value += '\b';
      return;
    case 'f':
      value += '\f';
      return;
    case 'v':
      value += '\v';
      return;
    case 'x':
      value += static_cast<char>(read_hex(text, at, 8));
      return;
    case 'u':
      append_utf8(value, read_hex(text, at, 4));
      return;
    case 'U':
      append_utf8(value, read_hex(text, at, 8));
      return;
    default:
      break;
  }
  if (!is_octal(letter)) {
    value += letter;
    return;
  }
  unsigned octal = static_cast<unsigned>(letter - '0');
  for (int digits = 1; digits < 3 && at < text.size() && is_octal(text[at]); ++digits) {
    octal = octal * 8 + static_cast<unsigned>(text[at++] - '0');
  }
  value += static_cast<char>(octal);
}

void add_literal(std::string& value, std::string_view text) {
  const std::size_t quote = text.find('"');
  if (quote == text.npos) return;
  if (quote > 0 && text[quote - 1] == 'R') {
    const std::size_t open = text.find('(', quote);
    const std::size_t close = text.rfind(')');
    // One without an end reaches to the end of the file.
    if (open == text.npos) return;
    value +=
        text.substr(open + 1, close == text.npos || close <= open ? text.npos : close - open - 1);
    return;
  }
  text.remove_prefix(quote + 1);
  for (std::size_t at = 0; at < text.size() && text[at] != '"';) {
    if (text[at] != '\\') {
      value += text[at++];
    } else if (++at < text.size()) {
      add_escape(value, text, at);
    }
  }
}

bool is_opening(const Token& token) { return token.is('(') || token.is('[') || token.is('{'); }
bool is_closing(const Token& token) { return token.is(')') || token.is(']') || token.is('}'); }

// Template arguments longer than this are taken for a comparison.
constexpr std::size_t most_template_tokens = 512;

// The `>` of template arguments that begin with the `<` at a place; the place itself where these
// are none.
std::size_t template_end(Tokens tokens, std::size_t open) {
  if (open == 0 || !tokens[open - 1].is_identifier()) return open;
  const std::size_t end = std::min(tokens.size(), open + most_template_tokens);
  std::size_t depth = 0;
  for (std::size_t at = open; at < end; ++at) {
    const Token& token = tokens[at];
    if (token.is('<')) ++depth;
    if (token.is('>') && --depth == 0) {
      if (at + 1 == tokens.size()) return at;
      const Token& next = tokens[at + 1];
      const bool goes_on = next.is('(') || next.is(')') || next.is('{') || next.is(',') ||
                           next.is("::") || next.is('>') || next.is('*') || next.is('&');
      return goes_on ? at : open;
    }
    if (token.is(';') || token.is("&&") || token.is("||") || is_closing(token)) return open;
    if (is_opening(token)) at = closing_bracket(tokens.first(end), at);
  }
  return open;
}

std::vector<Tokens> split(Tokens inside, bool with_templates) {
  std::vector<Tokens> parts;
  if (inside.empty()) return parts;
  std::size_t depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < inside.size(); ++at) {
    if (inside[at].kind != TokenKind::punctuator) continue;
    if (is_opening(inside[at])) ++depth;
    if (is_closing(inside[at]) && depth > 0) --depth;
    if (depth > 0) continue;
    if (with_templates && inside[at].is('<')) at = template_end(inside, at);
    if (inside[at].is(',')) {
      parts.push_back(inside.subspan(start, at - start));
      start = at + 1;
    }
  }
  parts.push_back(inside.subspan(start));
  return parts;
}

}  // namespace

std::string_view TextArena::add(std::string_view text) {
  while (block_ < blocks_.size() && blocks_[block_].size - used_ < text.size()) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const std::size_t size = std::max(block_size, text.size());
    blocks_.push_back({std::make_unique<char[]>(size), size});
    used_ = 0;
  }
  char* const to = blocks_[block_].bytes.get() + used_;
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  used_ += text.size();
  return {to, text.size()};
}

void TextArena::clear() {
  if (blocks_.size() > 1) blocks_.resize(1);
  block_ = 0;
  used_ = 0;
}

std::string string_value(Tokens tokens, bool* only_strings) {
  std::string value;
  bool only = !tokens.empty();
  for (const Token& token : tokens) {
    if (token.is_string()) {
      add_literal(value, token.text);
    } else {
      only = false;
    }
  }
  if (only_strings != nullptr) *only_strings = only;
  return value;
}

std::string text_of(Tokens tokens) {
  std::string text;
  for (const Token& token : tokens) {
    const bool words = !text.empty() && token.kind == TokenKind::identifier &&
                       (&token)[-1].kind == TokenKind::identifier;
    if (!text.empty() && (token.space_before || words)) text += ' ';
    text += token.text;
  }
  return text;
}

std::size_t closing_bracket(Tokens tokens, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < tokens.size(); ++at) {
    if (is_opening(tokens[at])) ++depth;
    if (is_closing(tokens[at]) && --depth == 0) return at;
  }
  return tokens.size();
}

std::uint32_t behind_angles(Tokens tokens, std::uint32_t open, std::uint32_t most) {
  std::uint32_t depth = 0;
  for (std::uint32_t at = open; at < tokens.size() && at - open < most; ++at) {
    const Token& token = tokens[at];
    if (token.is('<')) ++depth;
    if (depth == 0 || token.is(';') || token.is('{')) return open;
    if (token.is('>') && --depth == 0) return at + 1;
  }
  return open;
}

std::vector<Tokens> split_arguments(Tokens inside) { return split(inside, false); }

std::vector<Tokens> split_call_arguments(Tokens inside) { return split(inside, true); }

}  // namespace opseal
