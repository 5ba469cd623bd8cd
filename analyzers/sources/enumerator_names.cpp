#include "analyzers/sources/enumerator_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzers/words.h"

namespace opseal {
namespace {

// Words of a declaration before its name: `static constexpr const ns::Op name`.
constexpr std::uint32_t longest_head = 16;
constexpr unsigned most_casts = 8;
constexpr std::size_t most_of_a_name = 16;

constexpr std::array<std::string_view, 14> number_types{
    "int",     "unsigned", "long",    "short",   "char",     "size_t",   "int8_t",
    "int16_t", "int32_t",  "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"};

bool is_named_cast(const Token& token) {
  return token.is("static_cast") || token.is("reinterpret_cast");
}

std::uint32_t behind_path(Tokens tokens, std::uint32_t at, std::uint32_t end) {
  while (at < end && (tokens[at].is_identifier() || tokens[at].is("::"))) ++at;
  return at;
}

}  // namespace

void put_values(const std::vector<StatedValue>& values, TextArena& arena,
                std::vector<Token>& tokens) {
  std::size_t value = 0;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const Token token = tokens[at];
    while (value < values.size() &&
           values[value].offset + std::uint64_t{values[value].length} <= token.offset) {
      ++value;
    }
    const bool is_in = value < values.size() && token.offset >= values[value].offset &&
                       token.kind != TokenKind::directive;
    if (is_in && token.offset > values[value].offset) continue;
    tokens[kept] = token;
    if (is_in) {
      tokens[kept].kind = TokenKind::identifier;
      tokens[kept].text = arena.add(values[value].enumerator);
      tokens[kept].length = values[value].length;
      tokens[kept].hash = hash_of(tokens[kept].text);
    }
    ++kept;
  }
  tokens.resize(kept);
}

TokenRange without_casts(Tokens tokens, const std::vector<std::uint32_t>& partners,
                         TokenRange range) {
  for (unsigned casts = 0; casts < most_casts && !range.empty(); ++casts) {
    const std::uint32_t begin = range.begin;
    std::uint32_t open = begin;
    if (is_named_cast(tokens[begin])) {
      std::uint32_t depth = 0;
      for (open = begin + 1; open < range.end; ++open) {
        if (tokens[open].is('<')) ++depth;
        if (tokens[open].is('>') && --depth == 0) break;
      }
      ++open;
    } else if (tokens[begin].is_identifier()) {
      open = behind_path(tokens, begin, range.end);
      const Token& name = tokens[open - 1];
      if (!is_one_of(name.text, number_types) && !name.is("to_underlying")) return range;
    }
    if (open >= range.end || !tokens[open].is('(')) return range;
    const std::uint32_t close = partners[open];
    if (close == no_token || close <= open || close >= range.end) return range;
    if (close == range.end - 1) {
      range = {open + 1, close};
    } else if (open == begin && tokens[close + 1].is_identifier() &&
               behind_path(tokens, begin + 1, close) == close) {
      // `(type) value`
      range.begin = close + 1;
    } else {
      return range;
    }
  }
  return range;
}

// The last word of a name that is nothing but an enumerator.
std::string_view EnumeratorNames::value_of(Tokens tokens,
                                           const std::vector<std::uint32_t>& partners,
                                           TokenRange range) const {
  range = without_casts(tokens, partners, range);
  if (range.empty() || behind_path(tokens, range.begin, range.end) != range.end) return {};
  const Token& last = tokens[range.end - 1];
  return last.is_identifier() && is_enumerator_(last.text) ? last.text : std::string_view();
}

void EnumeratorNames::read(std::uint32_t file, Tokens tokens,
                           const std::vector<std::uint32_t>& partners, const SourceUnit& unit,
                           const std::vector<TokenRange>& enumerations) {
  read_macros(unit.bytes);
  for (const TokenRange& body : enumerations) read_enumeration(tokens, partners, body);
  std::vector<Around> around;
  for (std::uint32_t at = 0; at < tokens.size(); ++at) {
    while (!around.empty() && at >= around.back().scope.body.end) around.pop_back();
    if (tokens[at].is('{') && partners[at] != no_token && partners[at] > at) {
      Scope scope = scope_at(unit, partners, at);
      scope.body = {at + 1, partners[at]};
      around.push_back({at, std::move(scope)});
    }
    if (tokens[at].is("constexpr") || tokens[at].is("const")) {
      read_constant(file, at, tokens, partners, around);
    }
  }
}

void EnumeratorNames::read_macros(std::string_view bytes) {
  constexpr std::string_view mark = "define ";
  const auto is_blank = [](char byte) { return byte == ' ' || byte == '\t'; };
  for (std::size_t at = bytes.find(mark); at != bytes.npos; at = bytes.find(mark, at + 1)) {
    std::size_t line = at;
    while (line > 0 && is_blank(bytes[line - 1])) --line;
    if (line == 0 || bytes[line - 1] != '#') continue;
    std::size_t begin = at + mark.size();
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    while (begin < end && is_blank(bytes[begin])) ++begin;
    std::size_t behind = begin;
    while (behind < end && is_word_byte(bytes[behind])) ++behind;
    const std::string_view name = bytes.substr(begin, behind - begin);
    std::string_view value = bytes.substr(behind, end - behind);
    const std::size_t comment = value.find("//");
    value = value.substr(0, comment);
    const auto is_outside = [&](char byte) {
      return is_blank(byte) || byte == '\r' || byte == '(' || byte == ')';
    };
    // One with parameters begins with its bracket at once.
    if (name.empty() || value.empty() || !is_blank(value.front())) continue;
    while (!value.empty() && is_outside(value.front())) value.remove_prefix(1);
    while (!value.empty() && is_outside(value.back())) value.remove_suffix(1);
    const bool is_path = std::all_of(value.begin(), value.end(),
                                     [](char byte) { return is_word_byte(byte) || byte == ':'; });
    if (!is_path) continue;
    const std::size_t colons = value.rfind(':');
    if (colons != value.npos) value.remove_prefix(colons + 1);
    if (is_enumerator_(value) && !is_enumerator_(name)) {
      std::vector<Name>& same = names_[name];
      if (same.size() < most_of_a_name) same.push_back({value, {}, 0, {}});
    }
  }
}

void EnumeratorNames::read_constant(std::uint32_t file, std::uint32_t at, Tokens tokens,
                                    const std::vector<std::uint32_t>& partners,
                                    const std::vector<Around>& around) {
  const std::uint32_t head_end =
      std::min(at + longest_head, static_cast<std::uint32_t>(tokens.size()));
  std::uint32_t sign = at + 1;
  while (sign < head_end && (tokens[sign].is_identifier() || tokens[sign].is("::"))) ++sign;
  if (sign >= head_end || sign < at + 2 || !tokens[sign - 1].is_identifier()) return;
  std::uint32_t end = no_token;
  if (tokens[sign].is('{')) {
    end = partners[sign];
  } else if (tokens[sign].is('=')) {
    for (end = sign + 1; end < tokens.size() && end < sign + longest_head; ++end) {
      if (tokens[end].is(';') || tokens[end].is(',')) break;
      if (tokens[end].is('(') && partners[end] != no_token && partners[end] > end) {
        end = partners[end];
      }
    }
  }
  if (end == no_token || end <= sign || end > tokens.size()) return;
  const std::string_view name = tokens[sign - 1].text;
  const std::string_view value = value_of(tokens, partners, {sign + 1, end});
  if (value.empty() || is_enumerator_(name)) return;
  Name found{value, {}, file, {}};
  for (auto one = around.rbegin(); one != around.rend(); ++one) {
    const ScopeKind kind = one->scope.kind;
    if (kind == ScopeKind::name_space || kind == ScopeKind::linkage) break;
    found.within = one->scope.body;
    if (kind == ScopeKind::type) found.owner = one->scope.name;
    break;
  }
  std::vector<Name>& same = names_[name];
  if (same.size() < most_of_a_name) same.push_back(std::move(found));
}

// One of which every value is that of another enumeration.
void EnumeratorNames::read_enumeration(Tokens tokens, const std::vector<std::uint32_t>& partners,
                                       TokenRange range) {
  std::vector<std::pair<std::string_view, std::string_view>> found;
  for (std::uint32_t at = range.begin; at < range.end;) {
    std::uint32_t end = at;
    std::uint32_t sign = no_token;
    for (; end < range.end && !tokens[end].is(','); ++end) {
      if (tokens[end].is('=') && sign == no_token) sign = end;
      if (tokens[end].is('(') && partners[end] != no_token && partners[end] > end) {
        end = partners[end];
      }
    }
    if (sign != at + 1 || end > range.end) return;
    const std::string_view value = value_of(tokens, partners, {sign + 1, end});
    if (value.empty()) return;
    found.emplace_back(tokens[at].text, value);
    at = end + 1;
  }
  // Its own values under other names.
  for (const auto& [name, value] : found) {
    const auto is_own = [value = value](const auto& one) { return one.first == value; };
    if (std::any_of(found.begin(), found.end(), is_own)) return;
  }
  for (const auto& [name, value] : found) {
    std::vector<Name>& same = names_[name];
    if (same.size() < most_of_a_name) same.push_back({value, {}, 0, {}});
  }
}

void EnumeratorNames::replace(std::uint32_t file, std::vector<Token>& tokens,
                              const std::vector<TokenRange>& enumerations) const {
  std::size_t enumeration = 0;
  for (std::uint32_t at = 0; at < tokens.size(); ++at) {
    while (enumeration < enumerations.size() && at >= enumerations[enumeration].end) ++enumeration;
    if (enumeration < enumerations.size() && at >= enumerations[enumeration].begin) continue;
    Token& token = tokens[at];
    if (!token.is_identifier()) continue;
    const auto known = names_.find(token.text);
    if (known == names_.end()) continue;
    if (at > 0 && (tokens[at - 1].is('.') || tokens[at - 1].is("->"))) continue;
    if (at + 1 < tokens.size() && (tokens[at + 1].is('(') || tokens[at + 1].is("::"))) continue;
    const bool is_qualified = at > 1 && tokens[at - 1].is("::") && tokens[at - 2].is_identifier();
    const std::string_view owner = is_qualified ? tokens[at - 2].text : std::string_view();
    std::string_view value;
    bool agree = true;
    for (const Name& name : known->second) {
      const bool is_here = name.within.empty() ||
                           (name.file == file && at >= name.within.begin && at < name.within.end);
      const bool is_meant = is_qualified ? name.owner == owner || name.within.empty() : is_here;
      if (!is_meant) continue;
      agree = agree && (value.empty() || value == name.enumerator);
      value = name.enumerator;
    }
    if (value.empty() || !agree) continue;
    token.text = value;
    token.hash = hash_of(value);
  }
}

}  // namespace opseal
