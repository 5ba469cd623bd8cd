#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opseal {

// One token of Python source, as far as it matters to find imports and texts: numbers are words,
// and every other character is a token of its own.
struct PythonToken {
  enum class Kind : std::uint8_t {
    end,
    word,
    text,
    // A single character; `...` is three.
    sign,
    // The end of a logical line: brackets and `\` join lines.
    line_end,
  };

  Kind kind = Kind::end;
  // Of a text its content, with `*` for each `{...}` of an f-string; of bytes literals nothing.
  std::string text;
  // From 1.
  std::uint32_t line = 0;
};

// Splits Python source into tokens. Knows comments, prefixes of strings, triple quotes and joined
// lines. Doesn't know: nested f-strings that use the quotes of the one around them (Python 3.12),
// and escapes other than quotes and backslashes, which stay as they stand.
class PythonTokens {
 public:
  // Needs: the text outlives this.
  explicit PythonTokens(std::string_view text) : text_(text) {}

  PythonToken next();

 private:
  PythonToken text_token(std::string_view prefix, std::size_t quote);
  void skip_spaces();

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  // Open brackets.
  std::size_t depth_ = 0;
};

}  // namespace opseal
