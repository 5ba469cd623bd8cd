#include "analyzers/json_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "analyzers/input_error.h"
#include "opseal/ascii.h"
#include "opseal/text.h"
#include "opseal/utf8.h"

namespace opseal {
namespace {

// Bytes that end the quick scan of a text: quotation mark, backslash, control bytes, and all that
// is not ASCII.
constexpr std::array<bool, 256> make_stops() {
  std::array<bool, 256> stops{};
  for (int byte = 0; byte < 32; ++byte) stops[static_cast<std::size_t>(byte)] = true;
  for (int byte = 128; byte < 256; ++byte) stops[static_cast<std::size_t>(byte)] = true;
  stops['"'] = stops['\\'] = true;
  return stops;
}
constexpr std::array<bool, 256> stops_scan = make_stops();

bool is_bare_byte(char byte) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         byte == '_' || byte == '+' || byte == '-' || byte == '.';
}

// The grammar of a number, RFC 8259 section 6.
bool is_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&text, &at] {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > start;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (!digits()) {
    return false;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

}  // namespace

JsonReader::JsonReader(ByteSource& source, std::uint32_t file, std::vector<Problem>& problems,
                       std::size_t window)
    : source_(source),
      file_(file),
      problems_(problems),
      buffer_(std::make_unique_for_overwrite<char[]>(window + 1)),
      capacity_(window) {
  next_ = end_ = buffer_.get();
  refill();
  if (std::string_view(next_, std::min<std::size_t>(3, static_cast<std::size_t>(end_ - next_))) ==
      "\xef\xbb\xbf") {
    problem(0, 3, "byte-order mark before the document; JSON has none");
    next_ += 3;
  }
}

void JsonReader::problem(std::uint64_t offset, std::uint64_t length, std::string message,
                         Location related) {
  ++problem_count_;
  if (problem_count_ > max_problems) {
    const std::uint64_t left_out = problem_count_ - max_problems;
    if (left_out == 1) problems_.push_back({Location{file_, 0, 0}, {}, {}, Severity::error});
    problems_.back().message = "and " + plural(left_out, "more problem");
    return;
  }
  const std::uint64_t shown = std::min<std::uint64_t>(length, Location::max_length);
  problems_.push_back({Location{file_, static_cast<std::uint32_t>(shown), offset},
                       std::move(message), related, Severity::error});
}

void JsonReader::fail(std::uint64_t offset, std::uint64_t length, const std::string& message) {
  throw InputError(offset, length, message);
}

bool JsonReader::at_comment() const {
  return end_ - next_ >= 2 && next_[0] == '/' && (next_[1] == '/' || next_[1] == '*');
}

void JsonReader::fail_expected(const std::string& expected) {
  if (next_ >= end_) fail(offset(), 0, "the document ends where " + expected + " is expected");
  if (at_comment()) fail(offset(), 2, "a comment, expected " + expected + "; JSON has no comments");
  fail(offset(), 1, "expected " + expected);
}

void JsonReader::refill() {
  const char* from = next_;
  extend(from);
  next_ = from;
}

bool JsonReader::extend(const char*& from) {
  if (at_end_) return false;
  const char* keep = pinned_ != nullptr ? pinned_ : next_;
  const auto kept = static_cast<std::size_t>(end_ - keep);
  const auto dropped = static_cast<std::size_t>(keep - buffer_.get());
  base_ += dropped;
  const std::ptrdiff_t from_at = from - keep;
  const std::ptrdiff_t next_at = next_ - keep;
  if (kept > capacity_ / 2) {
    // A window that is still half full after the move holds one long text.
    capacity_ *= 2;
    std::unique_ptr<char[]> larger = std::make_unique_for_overwrite<char[]>(capacity_ + 1);
    std::memcpy(larger.get(), keep, kept);
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.get(), keep, kept);
  }
  std::size_t filled = kept;
  while (filled < capacity_) {
    const std::size_t got = source_.read(buffer_.get() + filled, capacity_ - filled);
    if (got == 0) {
      at_end_ = true;
      break;
    }
    filled += got;
  }
  buffer_[filled] = '\0';
  end_ = buffer_.get() + filled;
  from = buffer_.get() + from_at;
  next_ = buffer_.get() + next_at;
  if (pinned_ != nullptr) pinned_ = buffer_.get();
  if (base_ + filled > Node::max_offset) {
    fail(Node::max_offset, 0, "the file is larger than 16 GiB");
  }
  if (!source_.error().empty()) fail(base_ + filled, 0, "can't be read: " + source_.error());
  return filled > kept;
}

JsonReader::Text JsonReader::read_text() {
  const char* at = next_ + 1;
  while (!stops_scan[static_cast<unsigned char>(*at)]) ++at;
  if (*at == '"') {
    const Text text{{next_ + 1, static_cast<std::size_t>(at - next_ - 1)},
                    offset(),
                    static_cast<std::uint64_t>(at + 1 - next_),
                    true};
    next_ = at + 1;
    return text;
  }
  return read_escaped(at);
}

// The slow way: escapes, bytes that are not ASCII, texts that reach over the end of the window.
// Everything between the opening quotation mark and `at` is plain.
JsonReader::Text JsonReader::read_escaped(const char* at) {
  scratch_.assign(next_ + 1, at);
  const std::uint64_t begin = offset();
  bool good = true;
  const auto bad = [&](std::uint64_t length, std::string message) {
    if (good)
      problem(base_ + static_cast<std::uint64_t>(at - buffer_.get()), length, std::move(message));
    good = false;
  };
  for (;;) {
    // An escape or a UTF-8 sequence needs up to 12 bytes in the window.
    if (end_ - at < 12 && !at_end_) {
      next_ = at;
      extend(at);
    }
    if (at >= end_) fail(begin, 1, "text without a closing quotation mark");
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"') break;
    if (byte == '\\') {
      const char* before = at;
      if (!decode_escape(at)) {
        bad(static_cast<std::uint64_t>(std::min<std::ptrdiff_t>(2, end_ - at)),
            "not an escape sequence of JSON");
        at = before + 1 < end_ ? before + 2 : before + 1;
      }
    } else if (byte < 0x20) {
      bad(1, "control byte in a text; write it as an escape");
      ++at;
    } else if (byte < 0x80) {
      scratch_ += *at++;
    } else {
      const std::size_t length =
          utf8_length({at, static_cast<std::size_t>(std::min<std::ptrdiff_t>(4, end_ - at))}, 0);
      if (length == 0) {
        bad(1, "byte that is not UTF-8");
        ++at;
      } else {
        scratch_.append(at, length);
        at += length;
      }
    }
  }
  next_ = at + 1;
  return {scratch_, begin, offset() - begin, good};
}

bool JsonReader::read_hex(const char* digits, std::uint32_t& unit) {
  if (end_ - digits < 4) return false;
  const auto [stop, error] = std::from_chars(digits, digits + 4, unit, 16);
  return error == std::errc() && stop == digits + 4;
}

bool JsonReader::decode_escape(const char*& at) {
  static constexpr std::string_view plain = "\"\\/bfnrt";
  static constexpr std::string_view meaning = "\"\\/\b\f\n\r\t";
  if (end_ - at < 2) return false;
  if (const std::size_t found = plain.find(at[1]); found != plain.npos) {
    scratch_ += meaning[found];
    at += 2;
    return true;
  }
  std::uint32_t unit = 0;
  if (at[1] != 'u' || !read_hex(at + 2, unit)) return false;
  if (unit >= 0xdc00 && unit < 0xe000) return false;
  if (unit < 0xd800 || unit >= 0xe000) {
    append_utf8(scratch_, unit);
    at += 6;
    return true;
  }
  std::uint32_t low = 0;
  if (end_ - at < 12 || at[6] != '\\' || at[7] != 'u' || !read_hex(at + 8, low)) return false;
  if (low < 0xdc00 || low >= 0xe000) return false;
  append_utf8(scratch_, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
  at += 12;
  return true;
}

JsonReader::Number JsonReader::read_number() {
  Number number;
  number.offset = offset();
  const char* at = next_;
  std::uint32_t value = 0;
  while (is_digit(*at) && at - next_ < 9)
    value = value * 10 + static_cast<std::uint32_t>(*at++ - '0');
  if (!is_bare_byte(*at) && at < end_ && (*next_ != '0' || at == next_ + 1)) {
    number = {NumberKind::count, value, static_cast<double>(value), offset(),
              static_cast<std::uint64_t>(at - next_)};
    next_ = at;
    return number;
  }
  at = next_;
  for (;;) {
    while (is_bare_byte(*at)) ++at;
    if (at < end_ || !extend(at)) break;
  }
  // `extend` may have moved the window, but keeps what is unread: the token starts at `next_`.
  const std::string_view token(next_, static_cast<std::size_t>(at - next_));
  number.length = token.size();
  next_ = at;
  if (!is_number(token)) {
    problem(number.offset, number.length, quote(token) + " is not a number of JSON");
    return number;
  }
  const auto [stop, error] =
      std::from_chars(token.data(), token.data() + token.size(), number.real);
  if (error != std::errc() || stop != token.data() + token.size() || !std::isfinite(number.real)) {
    // A number too small for a double is close enough to 0; one too large has no value at all.
    if (std::fabs(std::strtod(std::string(token).c_str(), nullptr)) > 1) {
      problem(number.offset, number.length, "number too large for a double");
      return number;
    }
    number.real = 0;
  }
  number.kind = NumberKind::real;
  if (number.real >= 0 && number.real <= 0xffffffff && number.real == std::floor(number.real)) {
    number.kind = NumberKind::count;
    number.count = static_cast<std::uint32_t>(number.real);
  }
  return number;
}

JsonReader::Literal JsonReader::read_literal() {
  Literal literal;
  literal.offset = offset();
  const char* at = next_;
  for (;;) {
    while (is_bare_byte(*at)) ++at;
    if (at < end_ || !extend(at)) break;
  }
  const std::string_view token(next_, static_cast<std::size_t>(at - next_));
  if (token.empty()) fail_expected("a value");
  literal.length = token.size();
  next_ = at;
  if (token == "true") {
    literal.word = Word::yes;
  } else if (token == "false") {
    literal.word = Word::no;
  } else if (token == "null") {
    literal.word = Word::null;
  } else {
    problem(literal.offset, literal.length, quote(token) + " is not a value of JSON");
  }
  return literal;
}

bool JsonReader::more(bool& first, char close) {
  const char byte = peek();
  if (byte == close) {
    take();
    return false;
  }
  if (first) {
    first = false;
    return true;
  }
  if (byte != ',') fail_expected(std::string("`,` or `") + close + "`");
  take();
  if (peek() == close) fail(offset(), 1, std::string("`,` before `") + close + "`");
  return true;
}

void JsonReader::expect_colon() {
  if (peek() != ':') fail_expected("`:` after a key");
  take();
}

void JsonReader::expect_end() {
  peek();
  if (at_comment()) {
    fail(offset(), 2, "a comment follows the end of the document; JSON has no comments");
  }
  if (next_ < end_) fail(offset(), 1, "something follows the end of the document");
}

// Without recursion: how deep a hostile document nests must not matter to the stack.
bool JsonReader::skip_value() {
  const std::uint64_t problems_before = problem_count_;
  // For each open container, whether it is an object.
  std::vector<bool> open;
  bool first = false;
  bool deep = false;
  do {
    if (!open.empty()) {
      const bool object = open.back();
      if (!more(first, object ? '}' : ']')) {
        open.pop_back();
        first = false;
        continue;
      }
      if (object) {
        if (peek() != '"') fail_expected("a key in quotation marks");
        read_text();
        expect_colon();
      }
    }
    const char byte = peek();
    if (byte == '{' || byte == '[') {
      if (open.size() == max_depth && !deep) {
        problem(offset(), 1, "nested deeper than " + std::to_string(max_depth) + " levels");
        deep = true;
      }
      open.push_back(byte == '{');
      take();
      first = true;
    } else if (byte == '"') {
      read_text();
    } else if (byte == '-' || is_digit(byte)) {
      read_number();
    } else {
      read_literal();
    }
  } while (!open.empty());
  return problem_count_ == problems_before;
}

std::string JsonReader::read_raw() {
  peek();
  pinned_ = next_;
  const std::uint64_t begin = offset();
  const bool good = skip_value();
  const char* start = buffer_.get() + (begin - base_);
  std::string raw;
  if (good) raw.assign(start, next_);
  pinned_ = nullptr;
  return raw;
}

}  // namespace opseal
