// The methods are those of IPluginV2 in NvInferRuntimePlugin.h: the engine asks for a size, has the
// plugin write into a buffer of that size, and hands the same bytes to its creator later.

#include "analyzers/sources/plugin_storage.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/plugin_source.h"

namespace opseal {
namespace {

using Names = std::vector<std::string>;

// Tokens of all methods that are read in one file.
constexpr std::uint64_t most_steps = 8'000'000;

bool contains(Tokens tokens, std::string_view text) {
  return std::ranges::any_of(tokens, [&](const Token& token) { return token.is(text); });
}

// The member that `mA`, `&mA`, `this->mA` and `(mA)` name; empty where it is anything else.
std::string_view member_of(Tokens tokens) {
  while (tokens.size() >= 2 && tokens.front().is('(') && tokens.back().is(')')) {
    tokens = tokens.subspan(1, tokens.size() - 2);
  }
  if (!tokens.empty() && tokens.front().is('&')) tokens = tokens.subspan(1);
  if (tokens.size() == 3 && tokens[0].is("this") && tokens[1].is("->")) tokens = tokens.subspan(2);
  return tokens.size() == 1 && tokens[0].is_identifier() ? tokens[0].text : std::string_view();
}

// `sizeof(a) + serialized_size(b)`
std::optional<Names> counted_by(Tokens value) {
  Names names;
  while (!value.empty()) {
    std::size_t open = 0;
    while (open < value.size() && value[open].is_identifier()) ++open;
    if (open != 1 || value.size() < 4 || !value[1].is('(') || !value[3].is(')')) return {};
    const std::string_view word = value[0].text;
    if (word != "sizeof" && !word.starts_with("serialized") && !word.starts_with("getSerialized")) {
      return {};
    }
    if (!value[2].is_identifier()) return {};
    names.emplace_back(value[2].text);
    value = value.subspan(4);
    if (value.empty()) break;
    if (!value[0].is('+')) return {};
    value = value.subspan(1);
    if (value.empty()) return {};
  }
  return names;
}

using Words = std::unordered_set<std::string_view>;

Words words_of(Tokens tokens) {
  Words words;
  for (const Token& token : tokens) words.insert(token.text);
  return words;
}

class Body {
 public:
  Body(const PlainSource& source, const Scope& scope)
      : tokens_(Tokens(source.unit.tokens)
                    .subspan(scope.body.begin, scope.body.end - scope.body.begin)),
        parameters_(words_of(
            Tokens(source.unit.tokens)
                .subspan(scope.parameters.begin, scope.parameters.end - scope.parameters.begin))) {}

  std::optional<Names> counted() const {
    if (is_split()) return {};
    if (tokens_.size() < 3 || !tokens_.front().is("return") || !tokens_.back().is(';')) return {};
    const Tokens value = tokens_.subspan(1, tokens_.size() - 2);
    return contains(value, ";") ? std::nullopt : counted_by(value);
  }

  // Of what moves along a buffer, one thing a statement.
  std::optional<Names> moved() const {
    // What depends on anything may come or not.
    if (is_split() || contains(tokens_, "{") || contains(tokens_, "if") ||
        contains(tokens_, "for") || contains(tokens_, "while") || contains(tokens_, "?")) {
      return {};
    }
    Names names;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (!tokens_[at].is(';')) continue;
      if (!read_statement(tokens_.subspan(begin, at - begin), names)) return {};
      begin = at + 1;
    }
    if (begin != tokens_.size()) return {};
    return names;
  }

 private:
  // Branches of `#if` stand in it.
  bool is_split() const {
    return std::ranges::any_of(
        tokens_, [&](const Token& token) { return token.condition != tokens_.front().condition; });
  }

  bool add(std::string_view name, Names& names) const {
    if (name.empty() || parameters_.contains(name)) return false;
    names.emplace_back(name);
    return true;
  }

  bool read_statement(Tokens statement, Names& names) const {
    if (statement.empty()) return true;
    const std::string_view first = statement.front().text;
    if (first.find("assert") != first.npos || first.find("ASSERT") != first.npos) return true;
    if (statement.size() == 4 && statement[1].is("void")) return true;
    if (contains(statement, "+=")) return statement.front().is_identifier();
    const auto assigned = std::ranges::find_if(statement, [](const Token& t) { return t.is('='); });
    if (assigned != statement.end()) {
      const Tokens left(statement.begin(), assigned);
      const Tokens right(assigned + 1, statement.end());
      // `*reinterpret_cast<float*>(d) = mA`
      if (!left.empty() && left.front().is('*')) return add(member_of(right), names);
      // A pointer into the buffer: `char *d = static_cast<char*>(buffer), *start = d`
      if (contains(left, "*") || contains(left, "auto")) {
        return std::ranges::none_of(right, [](const Token& token) { return is_read(token.text); });
      }
      // `mA = read<int>(d)`, `mA = *reinterpret_cast<int const*>(d)`
      const std::string_view name = member_of(left);
      if (right.size() > 1 && right.front().is('*')) return add(name, names);
      const bool call = right.size() > 3 && right.front().is_identifier() && right.back().is(')');
      return call && !contains(right, "sizeof") && is_read(right.front().text) && add(name, names);
    }
    return read_call(statement, names);
  }

  static bool is_read(std::string_view word) {
    return word.starts_with("read") || word.starts_with("deserialize");
  }

  // `write(d, mA)`, `ns::write<int>(d, mA)`, `deserialize_value(&data, &length, &mA)`,
  // `memcpy(d, &mA, sizeof(mA))`
  bool read_call(Tokens statement, Names& names) const {
    std::size_t open = 0;
    while (open < statement.size() && !statement[open].is('(')) ++open;
    if (open == 0 || open + 1 >= statement.size() || !statement.back().is(')')) return false;
    // `(void) length`
    Tokens head = statement.subspan(0, open);
    std::string_view word;
    for (const Token& token : head) {
      if (token.is('<')) break;
      if (!token.is_identifier() && !token.is("::")) return false;
      word = token.text;
    }
    const auto arguments = split_typed(statement.subspan(open + 1, statement.size() - open - 2));
    if (word == "memcpy") {
      if (arguments.size() != 3) return false;
      const bool to = !arguments[0].empty() && arguments[0].front().is('&');
      return add(member_of(arguments[to ? 0 : 1]), names);
    }
    const bool moves = word.starts_with("write") || word.starts_with("serialize") || is_read(word);
    return moves && arguments.size() >= 2 && add(member_of(arguments.back()), names);
  }

  Tokens tokens_;
  Words parameters_;
};

// Takes bytes: `void const* data`.
bool takes_bytes(Tokens parameters) {
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    if (parameters[at].is("void")) return true;
  }
  return false;
}

// What stands between the parameters and the body reads nothing of the bytes on its own: it hands
// on at most what is called a name.
bool starts_from_bytes(const PlainSource& source, const Scope& scope) {
  const std::vector<Token>& tokens = source.unit.tokens;
  // What comes behind a `*`, up to the next comma.
  Words pointers;
  bool pointer = false;
  for (std::uint32_t at = scope.parameters.begin; at < scope.parameters.end; ++at) {
    if (tokens[at].is('*')) pointer = true;
    if (tokens[at].is(',')) pointer = false;
    if (pointer) pointers.insert(tokens[at].text);
  }
  for (std::uint32_t at = scope.parameters.end; at < scope.body.begin; ++at) {
    const Token& token = tokens[at];
    if (token.is_identifier() && !token.is("noexcept") && pointers.contains(token.text)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void read_plugin_storage(const PlainSource& source, std::vector<PluginStorage>& storage) {
  // Bodies within bodies would be read again and again.
  std::uint64_t steps = 0;
  for (const Scope& scope : source.shape.scopes) {
    if (scope.kind != ScopeKind::function || scope.name_token == no_token) continue;
    const std::string_view name = base_of(scope.name);
    const std::string owner = class_of(source, scope);
    if (owner.empty()) continue;
    const Token& token = source.unit.tokens[scope.name_token];
    PluginStorage one{owner, std::string(name), {}, {source.unit.file, token.offset, token.length}};
    const Tokens parameters =
        Tokens(source.unit.tokens)
            .subspan(scope.parameters.begin, scope.parameters.end - scope.parameters.begin);
    const bool stores = name == "getSerializationSize" || name == "serialize" || name == owner ||
                        name == "deserialize";
    if (!stores) continue;
    steps += scope.body.end - scope.parameters.begin;
    if (steps > most_steps) return;
    const Body body(source, scope);
    if (name == "getSerializationSize") {
      one.names = body.counted();
    } else if (name == "serialize") {
      one.names = body.moved();
    } else if ((name == owner || name == "deserialize") && takes_bytes(parameters)) {
      one.method = "deserialize";
      if (!starts_from_bytes(source, scope)) one.names = body.moved();
    } else {
      continue;
    }
    if (one.names) storage.push_back(std::move(one));
  }
}

}  // namespace opseal
