#include <algorithm>
#include <limits>

#include "analyzers/native/mangled_type.h"
#include "opseal/ascii.h"

namespace opseal {
namespace {

using Kind = MangledNode::Kind;
using Index = std::uint32_t;

constexpr std::size_t longest_name = std::size_t{64} << 10;
constexpr std::uint16_t deepest = 200;
// Several calls read one level.
constexpr std::uint16_t deepest_calls = 1000;

// <builtin-type>; those of two letters begin with D.
struct Builtin {
  char code;
  std::string_view text;
};
constexpr Builtin builtins[] = {
    {'v', "void"},        {'w', "wchar_t"},
    {'b', "bool"},        {'c', "char"},
    {'a', "signed char"}, {'h', "unsigned char"},
    {'s', "short"},       {'t', "unsigned short"},
    {'i', "int"},         {'j', "unsigned int"},
    {'l', "long"},        {'m', "unsigned long"},
    {'x', "long long"},   {'y', "unsigned long long"},
    {'n', "__int128"},    {'o', "unsigned __int128"},
    {'f', "float"},       {'d', "double"},
    {'e', "long double"}, {'g', "__float128"},
    {'z', "..."},
};
constexpr Builtin two_letter_builtins[] = {
    {'n', "decltype(nullptr)"}, {'a', "auto"},      {'c', "decltype(auto)"}, {'u', "char8_t"},
    {'i', "char32_t"},          {'s', "char16_t"},  {'h', "half"},           {'f', "decimal32"},
    {'d', "decimal64"},         {'e', "decimal128"}};

// Substitutions that the ABI fixes, all of them in `std`.
constexpr Builtin standard_names[] = {{'a', "allocator"}, {'b', "basic_string"}, {'s', "string"},
                                      {'i', "istream"},   {'o', "ostream"},      {'d', "iostream"}};

}  // namespace

// One pass from left to right. A part that doesn't fit sets `failed_`, after which nothing is read
// any more and every loop ends, since `peek` gives zero then.
class MangledReader {
 public:
  explicit MangledReader(std::string_view name) : rest_(name) {}

  std::optional<MangledType> read() {
    out_.root_ = read_type();
    if (failed_ || !rest_.empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  // Counts the levels of the reading itself, which nodes don't all show.
  struct Level {
    explicit Level(MangledReader& reader) : reader_(reader) {
      if (++reader_.level_ > deepest_calls) reader_.fail();
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --reader_.level_; }
    MangledReader& reader_;
  };

  Index fail() {
    failed_ = true;
    return MangledType::nothing;
  }
  char peek(std::size_t at = 0) const { return failed_ || at >= rest_.size() ? '\0' : rest_[at]; }
  bool take(std::string_view text) {
    if (failed_ || rest_.substr(0, text.size()) != text) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void skip(std::size_t count) { rest_.remove_prefix(std::min(count, rest_.size())); }
  void expect(char c) {
    if (peek() == c && c != '\0') {
      skip(1);
    } else {
      fail();
    }
  }

  Index add(MangledNode node) {
    if (failed_) return MangledType::nothing;
    std::uint16_t below = node.scope != 0 ? out_.nodes_[node.scope].depth : std::uint16_t{0};
    for (const Index part : node.parts) below = std::max(below, out_.nodes_[part].depth);
    // Text and names are written by functions that call themselves.
    if (below >= deepest) return fail();
    node.depth = static_cast<std::uint16_t>(below + 1);
    out_.nodes_.push_back(std::move(node));
    return static_cast<Index>(out_.nodes_.size() - 1);
  }
  Index add(Kind kind, std::string_view text, Index scope = 0, std::vector<Index> parts = {}) {
    return add({.kind = kind, .text = text, .scope = scope, .parts = std::move(parts)});
  }
  Index remember(Index index) {
    if (!failed_) substitutions_.push_back(index);
    return index;
  }

  std::size_t read_number() {
    std::size_t number = 0;
    if (!is_digit(peek())) fail();
    while (is_digit(peek())) {
      number = number * 10 + static_cast<std::size_t>(peek() - '0');
      if (number > longest_name) fail();
      skip(1);
    }
    return number;
  }

  // <seq-id> _ : empty, or a number of base 36, one less than what it means.
  std::size_t read_sequence() {
    std::size_t number = 0;
    bool empty = true;
    while (is_digit(peek()) || (peek() >= 'A' && peek() <= 'Z')) {
      const char c = peek();
      number = number * 36 + static_cast<std::size_t>(is_digit(c) ? c - '0' : c - 'A' + 10);
      if (number > longest_name) fail();
      empty = false;
      skip(1);
    }
    expect('_');
    return empty ? 0 : number + 1;
  }

  Index read_source_name(Index scope) {
    const std::size_t length = read_number();
    if (failed_ || length == 0 || length > rest_.size()) return fail();
    std::string_view text = rest_.substr(0, length);
    skip(length);
    if (text.starts_with("_GLOBAL__N")) text = "(anonymous namespace)";
    return add(Kind::name, text, scope);
  }

  // <unqualified-name>: of a source, an operator, a constructor, or a closure.
  Index read_unqualified(Index scope) {
    const Level level(*this);
    Index name = MangledType::nothing;
    // Internal linkage.
    take("L");
    if (is_digit(peek())) {
      name = read_source_name(scope);
    } else if (take("Ut")) {
      read_closure_number();
      name = add(Kind::name, "{unnamed type}", scope);
    } else if (take("Ul")) {
      while (peek() != 'E' && !failed_) read_type();
      expect('E');
      read_closure_number();
      name = add(Kind::name, "{lambda}", scope);
    } else if ((peek() == 'C' || peek() == 'D') && is_digit(peek(1))) {
      name = add(Kind::name, peek() == 'C' ? "{constructor}" : "{destructor}", scope);
      skip(2);
    } else if (take("cv")) {
      read_type();
      name = add(Kind::name, "{conversion}", scope);
    } else if (peek() >= 'a' && peek() <= 'z' && peek(1) >= 'a' && peek(1) <= 'z') {
      skip(2);
      name = add(Kind::name, "{operator}", scope);
    } else {
      fail();
    }
    while (take("B")) {
      // ABI tags tell variants of one name apart: `cxx11`.
      read_source_name(scope);
    }
    return name;
  }
  void read_closure_number() {
    while (is_digit(peek())) skip(1);
    expect('_');
  }

  Index read_arguments(Index of) {
    const Level level(*this);
    expect('I');
    std::vector<Index> parts;
    while (peek() != 'E' && !failed_) parts.push_back(read_argument());
    expect('E');
    return add(Kind::instance, {}, of, std::move(parts));
  }

  Index read_argument() {
    const Level level(*this);
    switch (peek()) {
      case 'L':
        return read_literal();
      case 'X': {
        skip(1);
        const Index expression = read_expression();
        expect('E');
        return expression;
      }
      case 'J': {
        skip(1);
        std::vector<Index> parts;
        while (peek() != 'E' && !failed_) parts.push_back(read_argument());
        expect('E');
        return add(Kind::pack, {}, 0, std::move(parts));
      }
      default:
        return read_type();
    }
  }

  // <expr-primary>
  Index read_literal() {
    const Level level(*this);
    expect('L');
    if (take("_Z")) {
      const Index name = read_encoding();
      expect('E');
      return add(Kind::literal, {}, name);
    }
    const Index type = read_type();
    const std::size_t length = failed_ ? 0 : std::min(rest_.find('E'), rest_.size());
    const std::string_view digits = rest_.substr(0, length);
    skip(length);
    expect('E');
    return add(Kind::literal, digits, 0, {type});
  }

  // Addresses of functions and objects, values, and template parameters: what arguments of types
  // are made of. Expressions that compute stand in signatures of templates alone.
  Index read_expression() {
    const Level level(*this);
    if (take("ad")) return read_expression();
    if (take("cv")) {
      read_type();
      return read_expression();
    }
    if (peek() == 'L') return read_literal();
    if (peek() == 'T') return read_type();
    return fail();
  }

  // <encoding>: a name and, of a function, the types of its signature.
  Index read_encoding() {
    const Level level(*this);
    const Index name = read_name();
    while (peek() != 'E' && peek() != '\0') read_type();
    return name;
  }

  Index read_name() {
    const Level level(*this);
    if (take("N")) return read_nested();
    if (take("Z")) return read_local();
    Index name = MangledType::nothing;
    if (take("St")) {
      name = read_unqualified(add(Kind::name, "std"));
    } else if (peek() == 'S') {
      name = read_substitution();
    } else {
      name = read_unqualified(MangledType::nothing);
    }
    if (peek() != 'I') return name;
    remember(name);
    return read_arguments(name);
  }

  // N [qualifiers] <prefix> <name> E
  Index read_nested() {
    while (peek() == 'r' || peek() == 'V' || peek() == 'K') skip(1);
    if (peek() == 'R' || peek() == 'O') skip(1);
    Index name = MangledType::nothing;
    while (peek() != 'E' && !failed_) {
      bool known = false;
      if (take("St")) {
        name = add(Kind::name, "std");
        known = true;
      } else if (peek() == 'S') {
        name = read_substitution();
        known = true;
      } else if (peek() == 'T') {
        name = read_parameter();
      } else if (peek() == 'I') {
        name = read_arguments(name);
      } else if (peek() == '\0') {
        return fail();
      } else {
        name = read_unqualified(name);
      }
      // The whole name is remembered by whoever asked for it, where it is a type.
      if (!known && peek() != 'E') remember(name);
    }
    expect('E');
    return name;
  }

  // Z <encoding> E <name> [discriminator]
  Index read_local() {
    const Index function = read_encoding();
    expect('E');
    Index name = MangledType::nothing;
    if (take("s")) {
      name = add(Kind::name, "{text}", function);
    } else {
      if (take("d")) {
        while (is_digit(peek())) skip(1);
        expect('_');
      }
      name = read_name();
      const MangledNode& local = out_.nodes_[name];
      if (local.kind == Kind::name && local.scope == MangledType::nothing) {
        name = add(Kind::name, local.text, function);
      }
    }
    if (take("__")) {
      while (is_digit(peek())) skip(1);
      expect('_');
    } else if (peek() == '_' && is_digit(peek(1))) {
      skip(2);
    }
    return name;
  }

  Index read_substitution() {
    expect('S');
    const char c = peek();
    for (const Builtin& standard : standard_names) {
      if (standard.code != c) continue;
      skip(1);
      return add(Kind::name, standard.text, add(Kind::name, "std"));
    }
    const std::size_t number = read_sequence();
    if (failed_ || number >= substitutions_.size()) return fail();
    return substitutions_[number];
  }

  Index read_parameter() {
    expect('T');
    read_sequence();
    return add(Kind::other, "{parameter}");
  }

  Index read_function() {
    expect('F');
    take("Y");
    std::vector<Index> parts;
    while (peek() != 'E' && !failed_) {
      if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E') {
        skip(1);
        continue;
      }
      parts.push_back(read_type());
    }
    expect('E');
    if (parts.empty()) return fail();
    // `v` alone: no parameters.
    if (parts.size() == 2 && !failed_ && out_.nodes_[parts[1]].text == "void") parts.pop_back();
    return add(Kind::function, {}, 0, std::move(parts));
  }

  Index read_decorated(std::size_t codes, std::string_view text) {
    skip(codes);
    const Index inner = read_type();
    return remember(add(Kind::decorated, text, 0, {inner}));
  }

  Index read_type() {
    const Level level(*this);
    const char c = peek();
    for (const Builtin& builtin : builtins) {
      if (builtin.code != c) continue;
      skip(1);
      return add(Kind::builtin, builtin.text);
    }
    switch (c) {
      case 'P':
        return read_decorated(1, "*");
      case 'R':
        return read_decorated(1, "&");
      case 'O':
        return read_decorated(1, "&&");
      case 'C':
        return read_decorated(1, " _Complex");
      case 'G':
        return read_decorated(1, " _Imaginary");
      case 'r':
      case 'V':
      case 'K':
        return read_qualified();
      case 'F':
        return remember(read_function());
      case 'A':
        return read_array();
      case 'M': {
        skip(1);
        const Index of = read_type();
        const Index member = read_type();
        return remember(add(Kind::other, "{member pointer}", 0, {of, member}));
      }
      case 'D':
        return read_extended();
      case 'T': {
        const Index parameter = remember(read_parameter());
        return peek() == 'I' ? remember(read_arguments(parameter)) : parameter;
      }
      case 'u': {
        skip(1);
        return remember(read_source_name(MangledType::nothing));
      }
      case 'S': {
        if (peek(1) == 't') return remember(read_name());
        const Index name = read_substitution();
        return peek() == 'I' ? remember(read_arguments(name)) : name;
      }
      case 'N':
      case 'Z':
        return remember(read_name());
      default:
        return is_digit(c) ? remember(read_name()) : fail();
    }
  }

  // All qualifiers of a type count as one part.
  Index read_qualified() {
    take("r");
    const bool changing = take("V");
    const bool constant = take("K");
    const Index inner = read_type();
    const std::string_view text = changing && constant ? " const volatile"
                                  : changing           ? " volatile"
                                  : constant           ? " const"
                                                       : " restrict";
    return remember(add(Kind::decorated, text, 0, {inner}));
  }

  Index read_array() {
    expect('A');
    while (is_digit(peek())) skip(1);
    expect('_');
    const Index inner = read_type();
    return remember(add(Kind::decorated, "[]", 0, {inner}));
  }

  // D and a second letter: builtin types, pack expansions, and functions that don't throw.
  Index read_extended() {
    expect('D');
    const char c = peek();
    skip(1);
    for (const Builtin& builtin : two_letter_builtins) {
      if (builtin.code == c) return add(Kind::builtin, builtin.text);
    }
    switch (c) {
      case 'p':
        return remember(read_type());
      case 'o':
        // Counts as a part of its own, which the function without it isn't.
        return remember(read_function());
      case 'F': {
        // _Float16, std::bfloat16_t and their like.
        const std::string_view digits = rest_.substr(0, std::min(rest_.find('_'), rest_.size()));
        read_number();
        take("b");
        expect('_');
        return add(Kind::builtin, digits == "16" ? "_Float16" : "floating-point type");
      }
      case 'v': {
        read_number();
        expect('_');
        const Index inner = read_type();
        return remember(add(Kind::decorated, " vector", 0, {inner}));
      }
      default:
        return fail();
    }
  }

  MangledType out_;
  std::string_view rest_;
  std::vector<Index> substitutions_;
  std::uint16_t level_ = 0;
  bool failed_ = false;
};

std::optional<MangledType> MangledType::parse(std::string_view mangled) {
  if (mangled.size() > longest_name) return std::nullopt;
  return MangledReader(mangled).read();
}

}  // namespace opseal
