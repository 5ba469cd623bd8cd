#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// Joins with a separator: "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator);

// The text with each byte that a terminal would obey or couldn't show written as `\xNN`.
std::string escape(std::string_view text);

// The same in backticks; what is longer than 120 bytes is cut with an ellipsis, since inputs are
// hostile and messages are for people.
std::string quote(std::string_view text);

// A list for a message: "`a`, `b` and 3 more".
std::string quote_list(std::span<const std::string> names, std::size_t most = 6);

// "1 input", "3 inputs". The plural is `one` with an `s` when it is left out.
std::string plural(std::uint64_t number, std::string_view one, std::string_view many = {});

// The candidate nearest to `word` (edit distance at most a third of its length, letter case ignored
// first), or empty.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates);

// "; did you mean `x`?", or empty.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

// Number of single-character insertions, deletions and replacements between two texts.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Of an identifier, in C++ and in Python without letters beyond ASCII.
inline bool is_word_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_';
}

// ASCII only.
std::string lower(std::string_view text);

// `*` stands for any run of characters, `?` for one; the whole text must match.
bool glob_match(std::string_view pattern, std::string_view text);

// Bytes of the UTF-8 sequence that starts at `text[at]`, or 0 when there is none (RFC 3629: no
// overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text, std::size_t at);

// The same where the sequence is a character to look at, else 0: not for control characters, line
// separators, the byte-order mark, and marks that change the direction of the text around them.
std::size_t printable_length(std::string_view text, std::size_t at);

}  // namespace opseal
