#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

enum class TokenKind : std::uint8_t {
  identifier,
  number,
  // With its prefix and quotation marks; `string_value` reads it.
  string,
  character,
  // The longest one of the language, but `>` is always alone, so that `>>` may close two lists.
  punctuator,
  // The `#` that begins a directive, and the end of its last line. Only a Lexer makes these.
  directive,
  end_of_directive,
};

// A token of a C++ source. What the file states is `text` with line splices taken out.
struct Token {
  std::string_view text;
  // Where the file that is read has it: bytes from the start and how many, splices included. A
  // token from the body of a macro has the place of the outermost invocation there; one that was
  // written as an argument has its own.
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  // Index into `SourceUnit::conditions`; 0 = in every build.
  std::uint32_t condition = 0;
  // Index into `SourceUnit::expansions`; 0 = written as it stands here.
  std::uint32_t expansion = 0;
  // Of `text`, for identifiers alone.
  std::uint32_t hash = 0;
  TokenKind kind = TokenKind::punctuator;
  // White space or a comment stands before it.
  bool space_before = false;
  // The name of a macro that stood in that macro's own expansion, and stays what it is.
  bool never_expand = false;

  bool is(char punctuator) const {
    return kind == TokenKind::punctuator && text.size() == 1 && text[0] == punctuator;
  }
  bool is(std::string_view spelling) const { return text == spelling; }
  bool is_identifier() const { return kind == TokenKind::identifier; }
  bool is_string() const { return kind == TokenKind::string; }
};

// Tables of bytes, such as a compiled kernel in the form of a source: of a long row of numbers the
// rest tells no reader anything, and takes fifty times the memory of its text.
class NumberRow {
 public:
  // Whether the token is a number or comma behind many others, and can be left out.
  bool is_data(const Token& token) {
    length_ = token.kind == TokenKind::number || token.is(',') ? length_ + 1 : 0;
    return length_ > longest;
  }

 private:
  static constexpr std::size_t longest = 512;

  std::size_t length_ = 0;
};

static_assert(sizeof(Token) == 40);

using Tokens = std::span<const Token>;

// The hash that Token has.
std::uint32_t hash_of(std::string_view identifier);

// Texts that no input holds as they are: spliced, stringized and pasted ones. They stay where they
// are until `clear`.
class TextArena {
 public:
  std::string_view add(std::string_view text);
  void clear();

 private:
  static constexpr std::size_t block_size = 1 << 14;

  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };

  std::vector<Block> blocks_;
  std::size_t block_ = 0;
  std::size_t used_ = 0;
};

// A comment that says something to a tool, such as `// opseal: …` or `// @BE name`.
struct SourceComment {
  // Without the marks of a comment, and without space around it.
  std::string_view text;
  // Of the whole comment.
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  // Index of the token of `SourceUnit::tokens` that follows it.
  std::uint32_t next_token = 0;
};

// Splits a C++ source into tokens. Any bytes will do: what isn't C++ comes out as punctuators of
// one byte, what has no end reaches to the end of its line, a comment and a raw string to the end
// of the file. Translation phases 2 and 3 of [lex.phases]: line splices (also with blanks behind
// the backslash, as compilers allow) are taken out everywhere but in raw strings.
class Lexer {
 public:
  // Needs: bytes and arena outlive the tokens, and there are less than 4 GiB of bytes.
  Lexer(std::string_view bytes, TextArena& arena) : bytes_(bytes), arena_(arena) {}

  // Comments whose text begins with one of these are added to a list; their `next_token` is left.
  void keep_comments(std::span<const std::string_view> marks, std::vector<SourceComment>& list) {
    marks_ = marks;
    comments_ = &list;
  }

  // False at the end.
  bool next(Token& token);
  // Passes over everything up to the next directive, faster than `next`; `token` is its `#`. False
  // when there is none.
  bool next_directive(Token& token);

 private:
  bool skip_space(Token& token);
  void skip_line_comment();
  void skip_block_comment();
  void keep_comment(std::size_t start, std::size_t text_start, std::size_t text_end);
  void read_identifier(Token& token);
  void read_number();
  void read_quoted(char mark);
  bool read_raw_string(std::size_t quote);
  std::size_t punctuator_length() const;
  std::size_t splice_at(std::size_t at) const;
  std::string_view without_splices(std::size_t start, std::size_t end) const;
  void finish(Token& token, std::size_t start, TokenKind kind);
  char byte(std::size_t at) const { return at < bytes_.size() ? bytes_[at] : '\0'; }

  std::string_view bytes_;
  TextArena& arena_;
  std::span<const std::string_view> marks_;
  std::vector<SourceComment>* comments_ = nullptr;
  std::size_t at_ = 0;
  bool line_start_ = true;
  bool in_directive_ = false;
  // A splice was passed within the token.
  bool spliced_ = false;
};

// What string literals say, joined as adjacent literals are: escapes read, raw strings taken as
// they are. Other tokens are passed over; `only_strings`, where given, tells whether there were
// none.
std::string string_value(Tokens tokens, bool* only_strings = nullptr);

// The tokens as one line, with one blank where the source has white space.
std::string text_of(Tokens tokens);

// The index of the bracket that closes the one at `open`: `(`, `[` or `{`; `tokens.size()` when
// there is none. Needs: there is one at `open`.
std::size_t closing_bracket(Tokens tokens, std::size_t open);

// Behind the `>` that closes the `<` at `open`, within so many tokens and before a `;` or a `{`;
// else `open`, as where there is none at it.
std::uint32_t behind_angles(Tokens tokens, std::uint32_t open, std::uint32_t most);

// The parts between the commas of the inside of brackets that stand in no further brackets. Commas
// of template arguments divide too, as they do for the preprocessor. None where there is nothing.
std::vector<Tokens> split_arguments(Tokens inside);

// The same for the call of a function, where commas of template arguments don't divide. Without
// knowing what is a template: `a<b, c>(d)` and `a<b, c>::d` are taken for one, `a < b, c > d` for
// two comparisons.
std::vector<Tokens> split_call_arguments(Tokens inside);

}  // namespace opseal
