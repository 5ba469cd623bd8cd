#include "analyzers/package/python_tokens.h"

#include <algorithm>

namespace opseal {
namespace {

bool is_word(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || (byte & 0x80) != 0;
}

bool is_string_prefix(std::string_view word) {
  return word.size() <= 2 && std::all_of(word.begin(), word.end(), [](char byte) {
           return std::string_view("rRbBuUfF").find(byte) != std::string_view::npos;
         });
}

bool has(std::string_view prefix, char lower_case) {
  return std::any_of(prefix.begin(), prefix.end(),
                     [lower_case](char byte) { return (byte | 0x20) == lower_case; });
}

// The content of an f-string with its values taken out. A brace that isn't closed hides the rest.
std::string without_values(std::string_view content) {
  std::string out;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < content.size(); ++at) {
    const char byte = content[at];
    const bool doubled = at + 1 < content.size() && content[at + 1] == byte;
    if (depth == 0 && (byte == '{' || byte == '}') && doubled) {
      out += byte;
      ++at;
    } else if (byte == '{') {
      if (depth++ == 0) out += '*';
    } else if (byte == '}' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      out += byte;
    }
  }
  return out;
}

}  // namespace

void PythonTokens::skip_spaces() {
  while (at_ < text_.size()) {
    const char byte = text_[at_];
    if (byte == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (byte == '\\' && text_.substr(at_ + 1, 1) == "\n") {
      at_ += 2;
      ++line_;
    } else if (byte == '\\' && text_.substr(at_ + 1, 2) == "\r\n") {
      at_ += 3;
      ++line_;
    } else if (byte == '\n' && depth_ > 0) {
      ++at_;
      ++line_;
    } else if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\f') {
      ++at_;
    } else {
      return;
    }
  }
}

PythonToken PythonTokens::next() {
  skip_spaces();
  if (at_ >= text_.size()) return {PythonToken::Kind::end, {}, line_};
  const char byte = text_[at_];
  if (byte == '\n') {
    ++at_;
    return {PythonToken::Kind::line_end, {}, line_++};
  }
  if (byte == '"' || byte == '\'') return text_token({}, at_);
  std::size_t end = at_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  if (end > at_) {
    const std::string_view word = text_.substr(at_, end - at_);
    const bool quoted = end < text_.size() && (text_[end] == '"' || text_[end] == '\'');
    if (quoted && is_string_prefix(word)) return text_token(word, end);
    at_ = end;
    return {PythonToken::Kind::word, std::string(word), line_};
  }
  if (byte == '(' || byte == '[' || byte == '{') ++depth_;
  if ((byte == ')' || byte == ']' || byte == '}') && depth_ > 0) --depth_;
  ++at_;
  return {PythonToken::Kind::sign, std::string(1, byte), line_};
}

PythonToken PythonTokens::text_token(std::string_view prefix, std::size_t quote) {
  const char mark = text_[quote];
  const bool triple = text_.substr(quote, 3) == std::string(3, mark);
  const std::string_view close = text_.substr(quote, triple ? 3 : 1);
  const bool raw = has(prefix, 'r');
  PythonToken token{PythonToken::Kind::text, {}, line_};
  std::size_t at = quote + close.size();
  while (at < text_.size() && text_.substr(at, close.size()) != close) {
    const char byte = text_[at];
    // Without its closing quote a plain text ends with its line.
    if (byte == '\n' && !triple) break;
    if (byte == '\n') ++line_;
    const bool escapes = byte == '\\' && at + 1 < text_.size();
    if (escapes && text_[at + 1] == '\n') {
      ++line_;
      if (raw) token.text += "\\\n";
      at += 2;
    } else if (escapes) {
      const char escaped = text_[at + 1];
      const bool bare = escaped == '\\' || escaped == '\'' || escaped == '"';
      if (raw || !bare) token.text += byte;
      token.text += escaped;
      at += 2;
    } else {
      token.text += byte;
      ++at;
    }
  }
  at_ = text_.substr(at, close.size()) == close ? at + close.size() : at;
  if (has(prefix, 'b')) token.text.clear();
  if (has(prefix, 'f')) token.text = without_values(token.text);
  return token;
}

}  // namespace opseal
