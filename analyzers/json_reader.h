#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/byte_source.h"
#include "opseal/facts.h"

namespace opseal {

// Reads JSON (RFC 8259) token by token and knows the exact bytes of each.
//
// Why not a library: opseal must name the byte of every value, see both of two equal keys, and go
// on after a token that is no JSON (`NaN`, a text that is no UTF-8, a number too large), so that
// one bad value doesn't silence every rule. Parsers at hand build a tree without places, keep one
// of two equal keys, and stop at the first error. The tests hold what this one accepts against
// nlohmann's parser.
//
// Memory: a window of the file, as large as its longest text, however large the file is.
class JsonReader {
 public:
  // Bytes of the window until a long text makes it grow.
  static constexpr std::size_t first_window = 256 * 1024;

  // Problems with tokens are added to `problems`, under the number `file`. Needs: both outlive the
  // reader; a window of at least 64 bytes.
  JsonReader(ByteSource& source, std::uint32_t file, std::vector<Problem>& problems,
             std::size_t window = first_window);

  struct Text {
    // Decoded; good until the next read. Meaningless when `good` is false.
    std::string_view text;
    // The token with its quotation marks, in bytes.
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    bool good = true;
  };
  enum class NumberKind : std::uint8_t { count, real, bad };
  struct Number {
    NumberKind kind = NumberKind::bad;
    std::uint32_t count = 0;
    // Set for both kinds.
    double real = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  enum class Word : std::uint8_t { yes, no, null, unknown };
  struct Literal {
    Word word = Word::unknown;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };

  // The first byte of the next token, white space skipped; 0 at the end of the input.
  char peek() {
    for (;;) {
      if (end_ - next_ < low_water && !at_end_) refill();
      while (*next_ == ' ' || *next_ == '\n' || *next_ == '\r' || *next_ == '\t') ++next_;
      if (next_ < end_ || at_end_) return *next_;
    }
  }
  // Takes the byte that `peek` showed.
  void take() { ++next_; }
  // Bytes from the start of the file to the next byte.
  std::uint64_t offset() const { return base_ + static_cast<std::uint64_t>(next_ - buffer_.get()); }

  // Needs: `peek` showed what begins such a token.
  Text read_text();
  Number read_number();
  // `true`, `false`, `null`, or a bare word, which is a problem.
  Literal read_literal();
  // Any value. False when something in it was a problem.
  bool skip_value();
  // The bytes of the value, as written, besides. They are empty when something in it was a problem.
  std::string read_raw();

  // After an opening brace or bracket was taken: true when another member or element follows; the
  // closing byte is taken. `first` is to be true before the first one.
  bool more(bool& first, char close);
  // After a member's key: takes the colon.
  void expect_colon();
  // Nothing but white space may follow.
  void expect_end();

  // Keeps the first `max_problems`; of the others one problem at the file says how many they are.
  void problem(std::uint64_t offset, std::uint64_t length, std::string message,
               Location related = {});
  // At the next byte, or at the end of the document. `expected` is a phrase: "a value".
  [[noreturn]] void fail_expected(const std::string& expected);
  [[noreturn]] void fail(std::uint64_t offset, std::uint64_t length, const std::string& message);

  std::uint32_t file() const { return file_; }

  // Levels of nesting that are read.
  static constexpr std::size_t max_depth = 256;
  // A hostile megabyte has room for half a million.
  static constexpr std::uint64_t max_problems = 100;

 private:
  // Bytes that a token other than a text may need beyond its first.
  static constexpr std::ptrdiff_t low_water = 4096;

  // The next byte begins what other programs take for a comment.
  bool at_comment() const;
  void refill();
  // Makes the window hold more bytes behind `from`, which may move; keeps the unread ones. False at
  // the end of the input. Needs: next_ <= from.
  bool extend(const char*& from);
  Text read_escaped(const char* at);
  bool decode_escape(const char*& at);
  bool read_hex(const char* digits, std::uint32_t& unit);

  ByteSource& source_;
  std::uint32_t file_;
  std::vector<Problem>& problems_;
  // Those that are not kept included.
  std::uint64_t problem_count_ = 0;
  // The window; one zero byte stands after its end, so that scans stop there. Not a vector, which
  // would fill it first: most files are much smaller.
  std::unique_ptr<char[]> buffer_;
  // Bytes without that zero.
  std::size_t capacity_;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  // File offset of the window's first byte.
  std::uint64_t base_ = 0;
  bool at_end_ = false;
  // From here on bytes are kept in the window; nullptr when only the unread ones are.
  const char* pinned_ = nullptr;
  std::string scratch_;
};

}  // namespace opseal
