#include "analyzers/sources/plugin_field_types.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analyzers/source/invocations.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Between the name of a field and its type, and in a cast.
constexpr std::size_t longest_declaration = 24;
constexpr std::size_t longest_cast = 16;
// Of a statement that reads a field.
constexpr std::size_t longest_statement = 400;

struct TypeWord {
  std::string_view name;
  std::string_view word;
};
// PluginFieldType of NvInferRuntimePlugin.h; texts, shapes and formats of few bits are left out.
constexpr TypeWord field_types[] = {
    {"kBF16", "bf16"}, {"kFLOAT16", "f16"}, {"kFLOAT32", "f32"}, {"kFLOAT64", "f64"},
    {"kINT16", "i16"}, {"kINT32", "i32"},   {"kINT64", "i64"},   {"kINT8", "i8"},
};
constexpr TypeWord read_types[] = {
    {"bool", "bool"},    {"char", "i8"},      {"double", "f64"},  {"float", "f32"},
    {"half", "f16"},     {"int", "i32"},      {"int16_t", "i16"}, {"int32_t", "i32"},
    {"int64_t", "i64"},  {"int8_t", "i8"},    {"size_t", "u64"},  {"uint16_t", "u16"},
    {"uint32_t", "u32"}, {"uint64_t", "u64"}, {"uint8_t", "u8"},  {"unsigned", "u32"},
    {"__half", "f16"},
};

template <std::size_t size>
std::string word_of(std::string_view name, const TypeWord (&words)[size]) {
  const auto* found = std::find_if(std::begin(words), std::end(words),
                                   [name](const TypeWord& one) { return one.name == name; });
  return found == std::end(words) ? std::string() : std::string(found->word);
}

// `float const*`; empty where it is no pointer to one of the known.
FieldRead pointed_type(Tokens tokens, std::size_t begin) {
  FieldRead read;
  bool pointer = false;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    if (token.is('*')) {
      if (pointer) return {};
      pointer = true;
    } else if (token.is_identifier() && !token.is("const") && !token.is("std")) {
      if (!read.type.empty()) return {};
      read.type = word_of(token.text, read_types);
      read.at = begin + at;
      if (read.type.empty()) return {};
    } else if (!token.is("const") && !token.is("std") && !token.is("::")) {
      return {};
    }
  }
  return pointer ? read : FieldRead{};
}

bool is_member(Tokens tokens, std::size_t at) {
  return at > 0 && (tokens[at - 1].is('.') || tokens[at - 1].is("->"));
}

// `fields[i].data`, `field.data`, `data`.
bool is_of_field(Tokens tokens, const std::set<std::string_view>& objects) {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (!tokens[at].is_identifier()) continue;
    if (tokens[at].is("fields")) return true;
    if (!is_member(tokens, at) && objects.contains(tokens[at].text)) return true;
  }
  return false;
}

// The end of what the `if` around a condition guards; the beginning is behind its bracket.
struct Guarded {
  std::size_t begin = 0;
  std::size_t end = 0;
};
Guarded guarded_by(Tokens body, std::size_t compared) {
  std::size_t at = compared;
  int depth = 0;
  const std::size_t last = std::min(body.size(), compared + 64);
  for (; at < last; ++at) {
    if (body[at].is('(')) ++depth;
    if (body[at].is(')')) {
      --depth;
      const bool ends = depth < 0 && at + 1 < body.size() && !body[at + 1].is(')') &&
                        !body[at + 1].is("&&") && !body[at + 1].is("||") &&
                        !body[at + 1].is("==") && !body[at + 1].is('?') && !body[at + 1].is(',');
      if (ends) break;
    }
    // No condition of an `if`, or one of what the field is not.
    if (body[at].is("!=") || body[at].is(';') || body[at].is('{') || body[at].is('}')) return {};
  }
  if (at >= last || at + 1 >= body.size()) return {};
  if (body[at + 1].is('{')) {
    const Tokens near = body.first(std::min(body.size(), at + longest_statement));
    const std::size_t close = closing_bracket(near, at + 1);
    return close == near.size() ? Guarded{} : Guarded{at + 2, close};
  }
  std::size_t end = at + 1;
  while (end < body.size() && end - at < longest_statement && !body[end].is(';')) ++end;
  return {at + 1, end};
}

}  // namespace

std::string declared_field_type(Tokens behind) {
  int depth = 0;
  for (std::size_t at = 0; at + 2 < behind.size() && at < longest_declaration; ++at) {
    const Token& token = behind[at];
    if (token.is('(') || token.is('{')) ++depth;
    if (token.is(')') || token.is('}')) --depth;
    if (depth < 0 || token.is(';')) return {};
    if (token.is("PluginFieldType") && behind[at + 1].is("::")) {
      return word_of(behind[at + 2].text, field_types);
    }
  }
  return {};
}

std::set<std::string_view> field_objects(Tokens body) {
  constexpr std::size_t longest_value = 48;
  std::set<std::string_view> objects;
  for (std::size_t at = 0; at + 2 < body.size(); ++at) {
    if (!body[at].is_identifier() || is_member(body, at)) continue;
    const Token& behind = body[at + 1];
    if (body[at].is("PluginField")) {
      std::size_t name = at + 1;
      while (name < body.size() &&
             (body[name].is("const") || body[name].is('&') || body[name].is('*'))) {
        ++name;
      }
      if (name < body.size() && body[name].is_identifier()) objects.insert(body[name].text);
    }
    if ((behind.is('.') || behind.is("->")) && body[at + 2].is("name")) {
      objects.insert(body[at].text);
    }
    if (!behind.is('=') && !behind.is('{') && !behind.is('(') && !behind.is(':')) continue;
    std::size_t end = at + 2;
    const std::size_t last = std::min(body.size(), at + longest_value);
    while (end < last && !body[end].is(';') && !body[end].is('{')) ++end;
    const Tokens value = body.subspan(at + 2, end - at - 2);
    // `attribute = fc->fields[i].name`
    const bool named = std::any_of(value.begin(), value.end(),
                                   [](const Token& token) { return token.is("name"); });
    if (!named && is_of_field(value, objects)) objects.insert(body[at].text);
  }
  return objects;
}

FieldRead read_field_type(Tokens all, std::size_t compared,
                          const std::set<std::string_view>& objects) {
  const Guarded guarded = guarded_by(all, compared);
  if (guarded.end <= guarded.begin || guarded.end - guarded.begin > longest_statement) return {};
  const Tokens body = all.first(guarded.end);
  FieldRead found;
  for (std::size_t at = guarded.begin; at + 2 < body.size(); ++at) {
    // The type that came is asked for, so that several are read.
    if (body[at].is("PluginFieldType")) return {};
    FieldRead one;
    std::size_t behind = 0;
    if ((body[at].is("static_cast") || body[at].is("reinterpret_cast")) && body[at + 1].is('<')) {
      std::size_t close = at + 2;
      while (close < body.size() && close - at < longest_cast && !body[close].is('>')) ++close;
      if (close >= body.size() || !body[close].is('>')) continue;
      one = pointed_type(body.subspan(at + 2, close - at - 2), at + 2);
      behind = close + 1;
    } else if (body[at].is('(')) {
      const std::size_t close = closing_bracket(body, at);
      if (close >= body.size() || close - at > longest_cast) continue;
      one = pointed_type(body.subspan(at + 1, close - at - 1), at + 1);
      behind = close + 1;
    }
    if (one.type.empty() || behind >= body.size()) continue;
    // What is cast: in brackets, or up to the next sign.
    std::size_t end = behind;
    if (body[behind].is('(')) {
      end = closing_bracket(body, behind);
    } else {
      while (end < body.size() && !body[end].is(';') && !body[end].is(',') && !body[end].is(')')) {
        ++end;
      }
    }
    if (!is_of_field(body.subspan(behind, end - behind), objects)) continue;
    if (!found.type.empty() && found.type != one.type) return {};
    found = one;
  }
  return found;
}

}  // namespace opseal
