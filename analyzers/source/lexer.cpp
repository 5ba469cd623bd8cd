// The lexical grammar is that of [lex] in the C++ standard, without digraphs and trigraphs.

#include <algorithm>
#include <array>
#include <cstring>

#include "analyzers/source/tokens.h"

namespace opseal {
namespace {

enum ByteClass : std::uint8_t { other_byte, letter_byte, digit_byte, blank_byte };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int byte = 'a'; byte <= 'z'; ++byte) classes[static_cast<std::size_t>(byte)] = letter_byte;
  for (int byte = 'A'; byte <= 'Z'; ++byte) classes[static_cast<std::size_t>(byte)] = letter_byte;
  for (int byte = '0'; byte <= '9'; ++byte) classes[static_cast<std::size_t>(byte)] = digit_byte;
  // Whatever encoding it is, a byte above ASCII is part of a name.
  for (std::size_t byte = 128; byte < 256; ++byte) classes[byte] = letter_byte;
  classes['_'] = classes['$'] = letter_byte;
  for (const char byte : {' ', '\t', '\r', '\v', '\f'}) {
    classes[static_cast<std::size_t>(byte)] = blank_byte;
  }
  return classes;
}

constexpr std::array<std::uint8_t, 256> classes = make_classes();

std::uint8_t class_of(char byte) { return classes[static_cast<unsigned char>(byte)]; }
bool is_name_byte(char byte) {
  return class_of(byte) == letter_byte || class_of(byte) == digit_byte;
}

constexpr std::uint32_t hash_start = 2166136261U;
std::uint32_t hash_with(std::uint32_t hash, char byte) {
  return (hash ^ static_cast<unsigned char>(byte)) * 16777619U;
}

bool is_literal_prefix(std::string_view text) {
  return text == "L" || text == "u" || text == "U" || text == "u8";
}

bool is_raw_prefix(std::string_view text) {
  return text.back() == 'R' &&
         (text.size() == 1 || is_literal_prefix(text.substr(0, text.size() - 1)));
}

// The name or number that ends at a place; of a long one its end.
std::string_view word_before(std::string_view bytes, std::size_t at) {
  constexpr std::size_t longest = 64;
  std::size_t start = at;
  while (start > 0 && at - start < longest &&
         (is_name_byte(bytes[start - 1]) || bytes[start - 1] == '\'')) {
    --start;
  }
  return bytes.substr(start, at - start);
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char byte) { return class_of(byte) == blank_byte || byte == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::uint32_t hash_of(std::string_view identifier) {
  std::uint32_t hash = hash_start;
  for (const char byte : identifier) hash = hash_with(hash, byte);
  return hash;
}

// Bytes of the splice at a place: a backslash, blanks, the end of the line; 0 when there is none.
std::size_t Lexer::splice_at(std::size_t at) const {
  if (byte(at) != '\\') return 0;
  std::size_t end = at + 1;
  while (end < bytes_.size() && class_of(bytes_[end]) == blank_byte) ++end;
  return end < bytes_.size() && bytes_[end] == '\n' ? end + 1 - at : 0;
}

std::string_view Lexer::without_splices(std::size_t start, std::size_t end) const {
  std::string text;
  for (std::size_t at = start; at < end;) {
    const std::size_t splice = splice_at(at);
    if (splice == 0) text += bytes_[at++];
    at += splice;
  }
  return arena_.add(text);
}

void Lexer::finish(Token& token, std::size_t start, TokenKind kind) {
  token.text = spliced_ ? without_splices(start, at_) : bytes_.substr(start, at_ - start);
  token.offset = static_cast<std::uint32_t>(start);
  token.length = static_cast<std::uint32_t>(at_ - start);
  token.condition = 0;
  token.expansion = 0;
  token.hash = 0;
  token.kind = kind;
  token.never_expand = false;
}

void Lexer::keep_comment(std::size_t start, std::size_t text_start, std::size_t text_end) {
  if (comments_ == nullptr) return;
  const std::string_view text = trimmed(bytes_.substr(text_start, text_end - text_start));
  const bool kept = std::any_of(marks_.begin(), marks_.end(),
                                [text](std::string_view mark) { return text.starts_with(mark); });
  if (!kept) return;
  SourceComment comment;
  comment.text = text;
  comment.offset = static_cast<std::uint32_t>(start);
  comment.length = static_cast<std::uint32_t>(at_ - start);
  comments_->push_back(comment);
}

void Lexer::skip_line_comment() {
  const std::size_t start = at_;
  for (;;) {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) {
      at_ = bytes_.size();
      break;
    }
    at_ = end;
    std::size_t last = end;
    while (last > start && class_of(bytes_[last - 1]) == blank_byte) --last;
    if (bytes_[last - 1] != '\\') break;
    ++at_;
  }
  keep_comment(start, start + 2, at_);
}

void Lexer::skip_block_comment() {
  const std::size_t start = at_;
  const std::size_t end = bytes_.find("*/", std::min(at_ + 2, bytes_.size()));
  at_ = end == bytes_.npos ? bytes_.size() : end + 2;
  keep_comment(start, start + 2, end == bytes_.npos ? at_ : end);
}

// False where the token is made: the end of a directive.
bool Lexer::skip_space(Token& token) {
  for (;;) {
    const char here = byte(at_);
    if (class_of(here) == blank_byte) {
      ++at_;
    } else if (here == '\n') {
      if (in_directive_) {
        in_directive_ = false;
        finish(token, at_, TokenKind::end_of_directive);
        return false;
      }
      line_start_ = true;
      ++at_;
    } else if (here == '/' && byte(at_ + 1) == '/') {
      skip_line_comment();
    } else if (here == '/' && byte(at_ + 1) == '*') {
      skip_block_comment();
    } else if (const std::size_t splice = here == '\\' ? splice_at(at_) : 0; splice > 0) {
      at_ += splice;
    } else {
      return true;
    }
    token.space_before = true;
  }
}

bool Lexer::next(Token& token) {
  token.space_before = false;
  spliced_ = false;
  if (!skip_space(token)) return true;
  const std::size_t start = at_;
  if (at_ >= bytes_.size()) {
    if (!in_directive_) return false;
    in_directive_ = false;
    finish(token, start, TokenKind::end_of_directive);
    return true;
  }
  const char first = bytes_[at_];
  const bool begins_line = line_start_;
  line_start_ = false;
  switch (class_of(first)) {
    case letter_byte:
      read_identifier(token);
      return true;
    case digit_byte:
      read_number();
      finish(token, start, TokenKind::number);
      return true;
    default:
      break;
  }
  if (first == '"' || first == '\'') {
    read_quoted(first);
    finish(token, start, first == '"' ? TokenKind::string : TokenKind::character);
  } else if (first == '.' && class_of(byte(at_ + 1)) == digit_byte) {
    read_number();
    finish(token, start, TokenKind::number);
  } else if (first == '#' && begins_line && !in_directive_) {
    ++at_;
    in_directive_ = true;
    finish(token, start, TokenKind::directive);
  } else {
    at_ += punctuator_length();
    finish(token, start, TokenKind::punctuator);
  }
  return true;
}

void Lexer::read_identifier(Token& token) {
  const std::size_t start = at_;
  std::uint32_t hash = hash_start;
  const char* const end = bytes_.data() + bytes_.size();
  for (;;) {
    const char* here = bytes_.data() + at_;
    while (here != end && is_name_byte(*here)) hash = hash_with(hash, *here++);
    at_ = static_cast<std::size_t>(here - bytes_.data());
    const std::size_t splice = byte(at_) == '\\' ? splice_at(at_) : 0;
    // A name that ends with a splice ends before it.
    if (splice == 0 || !is_name_byte(byte(at_ + splice))) break;
    spliced_ = true;
    at_ += splice;
  }
  const char mark = byte(at_);
  if (mark == '"' || mark == '\'') {
    const std::string_view prefix = bytes_.substr(start, at_ - start);
    if (mark == '"' && is_raw_prefix(prefix) && read_raw_string(at_)) {
      finish(token, start, TokenKind::string);
      return;
    }
    if (is_literal_prefix(prefix)) {
      read_quoted(mark);
      finish(token, start, mark == '"' ? TokenKind::string : TokenKind::character);
      return;
    }
  }
  finish(token, start, TokenKind::identifier);
  token.hash = hash;
}

// A preprocessing number: `1'000`, `0x1p-3`, `1e+5f`.
void Lexer::read_number() {
  ++at_;
  while (at_ < bytes_.size()) {
    const char here = bytes_[at_];
    const char before = bytes_[at_ - 1];
    const bool is_sign = (here == '+' || here == '-') &&
                         (before == 'e' || before == 'E' || before == 'p' || before == 'P');
    const bool is_separator = here == '\'' && is_name_byte(byte(at_ + 1));
    if (is_name_byte(here) || here == '.' || is_sign || is_separator) {
      ++at_;
      continue;
    }
    const std::size_t splice = here == '\\' ? splice_at(at_) : 0;
    if (splice == 0 || !is_name_byte(byte(at_ + splice))) return;
    spliced_ = true;
    at_ += splice;
  }
}

void Lexer::read_quoted(char mark) {
  ++at_;
  while (at_ < bytes_.size()) {
    const char here = bytes_[at_];
    if (here == mark) {
      ++at_;
      return;
    }
    if (here == '\n') return;
    if (here == '\\') {
      if (const std::size_t splice = splice_at(at_)) {
        spliced_ = true;
        at_ += splice;
        continue;
      }
      if (at_ + 1 < bytes_.size() && bytes_[at_ + 1] != '\n') ++at_;
    }
    ++at_;
  }
}

// False where it is none: a delimiter has at most 16 bytes, without blanks, brackets and
// backslashes.
bool Lexer::read_raw_string(std::size_t quote) {
  constexpr std::size_t longest_delimiter = 16;
  std::size_t open = quote + 1;
  while (open < bytes_.size() && bytes_[open] != '(') {
    const char here = bytes_[open];
    if (class_of(here) == blank_byte || here == '\n' || here == ')' || here == '\\' ||
        here == '"' || open - quote > longest_delimiter) {
      return false;
    }
    ++open;
  }
  if (open >= bytes_.size()) return false;
  char closing[longest_delimiter + 2];
  const std::size_t length = open - quote - 1;
  closing[0] = ')';
  std::memcpy(closing + 1, bytes_.data() + quote + 1, length);
  closing[length + 1] = '"';
  const std::size_t end = bytes_.find(std::string_view(closing, length + 2), open);
  at_ = end == bytes_.npos ? bytes_.size() : end + length + 2;
  // What looks like a splice in it is text.
  spliced_ = false;
  return true;
}

std::size_t Lexer::punctuator_length() const {
  const char first = bytes_[at_];
  const char second = byte(at_ + 1);
  const char third = byte(at_ + 2);
  switch (first) {
    case ':':
    case '#':
      return second == first ? 2 : 1;
    case '.':
      if (second == '.' && third == '.') return 3;
      return second == '*' ? 2 : 1;
    case '-':
      if (second == '>') return third == '*' ? 3 : 2;
      return second == '-' || second == '=' ? 2 : 1;
    case '<':
      // A kernel launch has three, and so has a comparison of three ways.
      if ((second == '<' && (third == '<' || third == '=')) || (second == '=' && third == '>')) {
        return 3;
      }
      return second == '<' || second == '=' ? 2 : 1;
    case '+':
    case '&':
    case '|':
      return second == first || second == '=' ? 2 : 1;
    case '=':
    case '!':
    case '>':
    case '*':
    case '/':
    case '%':
    case '^':
      return second == '=' ? 2 : 1;
    default:
      return 1;
  }
}

bool Lexer::next_directive(Token& token) {
  const auto interesting = [](char here) {
    return here == '\n' || here == '"' || here == '\'' || here == '/' || here == '#';
  };
  spliced_ = false;
  in_directive_ = false;
  while (at_ < bytes_.size()) {
    const char here = bytes_[at_];
    if (line_start_) {
      token.space_before = false;
      if (!skip_space(token) || at_ >= bytes_.size()) continue;
      if (bytes_[at_] == '#') return next(token);
      line_start_ = false;
      continue;
    }
    if (here == '\n') {
      line_start_ = true;
      ++at_;
    } else if (here == '/' && byte(at_ + 1) == '/') {
      skip_line_comment();
    } else if (here == '/' && byte(at_ + 1) == '*') {
      skip_block_comment();
    } else if (here == '"' || here == '\'') {
      const std::string_view word = word_before(bytes_, at_);
      // Within a number it divides digits.
      if (here == '\'' && !word.empty() && class_of(word.front()) == digit_byte) {
        ++at_;
      } else if (here != '"' || word.empty() || !is_raw_prefix(word) || !read_raw_string(at_)) {
        read_quoted(here);
      }
    } else if (const std::size_t splice = here == '\\' ? splice_at(at_) : 0; splice > 0) {
      at_ += splice;
    } else {
      ++at_;
      while (at_ < bytes_.size() && !interesting(bytes_[at_]) && bytes_[at_] != '\\') ++at_;
    }
  }
  return false;
}

}  // namespace opseal
