// PTX is text: `.visible .entry name(.param .u64 a, ...) .maxntid 128, 1, 1 { ... }`, from "PTX
// ISA", chapters "PTX Directives" and "Kernel and Function Directives". Only what stands in front
// of a body is read.

#include "analyzers/native/ptx.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace opseal {
namespace {

constexpr std::string_view entry_directive = ".entry";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

// The next `.entry`, or the length. Nearly all of a module is bodies, where neither of two letters
// of the word stands three after the other: whole blocks are passed over by a loop without a
// branch, which compilers turn into wide comparisons.
std::size_t find_entry(std::string_view text, std::size_t from) {
  constexpr std::size_t block = 64;
  const char* data = text.data();
  while (from + block + entry_directive.size() <= text.size()) {
    const char* here = data + from + 2;
    unsigned char hit = 0;
    for (std::size_t i = 0; i < block; ++i) {
      hit = static_cast<unsigned char>(hit | ((here[i] == 'n') & (here[i + 3] == 'y')));
    }
    if (hit != 0) {
      const std::size_t found =
          text.substr(from, block + entry_directive.size() - 1).find(entry_directive);
      if (found != std::string_view::npos) return from + found;
    }
    from += block;
  }
  return std::min(text.find(entry_directive, from), text.size());
}

// Tells in one walk whether places, asked for in ascending order, lie in a comment.
class Comments {
 public:
  explicit Comments(std::string_view text) : text_(text) {}

  bool cover(std::size_t place) {
    while (end_ <= place) {
      const std::size_t slash = text_.substr(0, place).find('/', end_);
      if (slash == std::string_view::npos || slash + 1 >= text_.size()) {
        // Nothing is looked at twice, however many places are asked for.
        end_ = place;
        return false;
      }
      const char kind = text_[slash + 1];
      if (kind != '/' && kind != '*') {
        end_ = slash + 1;
        continue;
      }
      const std::size_t end = kind == '/' ? text_.find('\n', slash) : text_.find("*/", slash + 2);
      end_ = end == std::string_view::npos ? text_.size() : end + (kind == '/' ? 1 : 2);
    }
    return end_ > place;
  }

 private:
  std::string_view text_;
  // Everything before was looked at.
  std::size_t end_ = 0;
};

// Words and single signs of what stands in front of a body, without comments.
class Tokens {
 public:
  Tokens(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  // Empty at the end.
  std::string_view next() {
    skip();
    if (at_ >= text_.size()) return {};
    const std::size_t start = at_++;
    if (text_[start] == '"') {
      const std::size_t end = text_.find('"', at_);
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
    } else if (is_word(text_[start])) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  std::string_view peek() {
    const std::size_t start = at_;
    const std::string_view token = next();
    at_ = start;
    return token;
  }
  std::size_t at() const { return at_; }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_;
};

std::uint32_t number_of(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Bytes of a value of a type such as `.u64`, `.bf16`, `.f16x2`; 0 for what is no type.
std::uint32_t type_bytes(std::string_view type) {
  if (type == ".texref" || type == ".surfref" || type == ".samplerref") return 8;
  const std::size_t digits = type.find_first_of("0123456789");
  const std::string_view letters = type.substr(0, std::min(digits, type.size()));
  if (letters != ".b" && letters != ".s" && letters != ".u" && letters != ".f" &&
      letters != ".bf") {
    return 0;
  }
  std::uint32_t bits = number_of(type.substr(std::min(digits, type.size())));
  if (type.ends_with("x2")) bits *= 2;
  return bits / 8;
}

// From behind the `(` up to and with the `)`.
std::vector<std::uint32_t> read_parameters(Tokens& tokens) {
  std::vector<std::uint32_t> parameters;
  std::uint64_t bytes = 0;
  bool typed = false;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "," || token == ")") {
      if (typed) {
        parameters.push_back(
            static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX)));
      }
      typed = false;
      if (token == ")") break;
    } else if (token == ".align") {
      tokens.next();
    } else if (token == "[") {
      // The sizes that the ISA allows leave a product of two far from an overflow.
      bytes = std::min<std::uint64_t>(bytes, UINT32_MAX) * number_of(tokens.peek());
    } else if (!typed && type_bytes(token) > 0) {
      bytes = type_bytes(token);
      typed = true;
    }
  }
  return parameters;
}

std::array<std::uint32_t, 3> read_dimensions(Tokens& tokens) {
  std::array<std::uint32_t, 3> dimensions = {1, 1, 1};
  for (std::uint32_t& dimension : dimensions) {
    dimension = number_of(tokens.next());
    if (tokens.peek() != ",") break;
    tokens.next();
  }
  return dimensions;
}

// Whether `.visible`, `.weak` or the like stands in front of the directive at `entry`.
bool has_linkage(std::string_view text, std::size_t entry) {
  while (entry > 0 && is_space(text[entry - 1])) --entry;
  const std::size_t end = entry;
  while (entry > 0 && is_word(text[entry - 1])) --entry;
  const std::string_view word = text.substr(entry, end - entry);
  return word == ".visible" || word == ".weak" || word == ".common";
}

}  // namespace

std::vector<DeviceKernel> read_ptx_entries(std::string_view text, std::uint64_t most) {
  // Those that few kernels have more of.
  constexpr std::uint64_t parameters_of_kernel = 64;
  std::vector<DeviceKernel> kernels;
  std::uint64_t parameters = 0;
  Comments comments(text);
  for (std::size_t at = find_entry(text, 0); at < text.size();) {
    const std::size_t entry = at;
    const std::size_t behind = entry + entry_directive.size();
    at = behind;
    const bool is_directive = (entry == 0 || !is_word(text[entry - 1])) && behind < text.size() &&
                              is_space(text[behind]) && !comments.cover(entry);
    if (is_directive) {
      Tokens tokens(text, behind);
      DeviceKernel kernel;
      kernel.name = tokens.next();
      kernel.local = !has_linkage(text, entry);
      std::string_view token = tokens.next();
      if (token == "(") {
        kernel.parameters = read_parameters(tokens);
        token = tokens.next();
      }
      for (; !token.empty() && token != "{" && token != ";"; token = tokens.next()) {
        if (token == ".maxntid") kernel.max_threads = read_dimensions(tokens);
        if (token == ".reqntid") kernel.required_threads = read_dimensions(tokens);
        if (token == ".reqnctapercluster") kernel.cluster = read_dimensions(tokens);
      }
      if (token == "{") {
        parameters += kernel.parameters.size();
        if (kernels.size() + parameters / parameters_of_kernel >= most) refuse_kernels(entry, most);
        kernels.push_back(std::move(kernel));
      }
      at = tokens.at();
    }
    at = find_entry(text, at);
  }
  return kernels;
}

PtxHeader read_ptx_header(std::string_view text) {
  // A comment of any length may come first, and nothing else.
  Tokens tokens(text, 0);
  PtxHeader header;
  if (tokens.next() != ".version") return header;
  header.version = tokens.next();
  if (tokens.next() == ".target") header.target = tokens.next();
  return header;
}

}  // namespace opseal
