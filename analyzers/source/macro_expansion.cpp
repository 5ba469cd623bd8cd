#include "analyzers/source/macro_expansion.h"

#include <algorithm>
#include <utility>

namespace opseal {
namespace {

// What operators make that is longer is cut off, or left as it was.
constexpr std::size_t most_pasted_bytes = 4096;
constexpr std::size_t most_stringized_bytes = 1 << 16;

// Divides what stands between the brackets as the macro's parameters want it. False where there are
// too many or too few.
bool bind(const MacroDefinition& macro, const std::vector<Token>& list,
          std::vector<std::vector<Token>>& arguments) {
  const std::size_t wanted = macro.parameters.size();
  arguments.assign(1, {});
  std::size_t depth = 0;
  for (const Token& token : list) {
    if (token.is('(')) ++depth;
    if (token.is(')') && depth > 0) --depth;
    const bool divides = depth == 0 && token.is(',');
    if (divides && !(macro.variadic && arguments.size() == wanted)) {
      arguments.emplace_back();
    } else {
      arguments.back().push_back(token);
    }
  }
  if (wanted == 0) return arguments.size() == 1 && arguments[0].empty();
  // What is left over may be left out with its comma.
  if (macro.variadic && arguments.size() + 1 == wanted) arguments.emplace_back();
  return arguments.size() == wanted;
}

// Of an invocation, between its brackets.
std::uint32_t arguments_in(const std::vector<Token>& list) {
  if (list.empty()) return 0;
  std::size_t depth = 0;
  std::uint32_t arguments = 1;
  for (const Token& token : list) {
    if (token.is('(')) ++depth;
    if (token.is(')') && depth > 0) --depth;
    if (depth == 0 && token.is(',')) ++arguments;
  }
  return arguments;
}

bool is_paste(Tokens body, std::size_t at) { return at < body.size() && body[at].is("##"); }

}  // namespace

void MacroExpander::pop(Stream& stream) {
  stream.sources.back().macro->disabled = false;
  stream.sources.pop_back();
}

bool MacroExpander::take(Stream& stream, Token& token) {
  while (!stream.sources.empty()) {
    Source& source = stream.sources.back();
    if (source.at < source.tokens.size()) {
      token = source.tokens[source.at++];
      return true;
    }
    pop(stream);
  }
  if (stream.at >= stream.base.size()) return false;
  token = stream.base[stream.at++];
  return true;
}

bool MacroExpander::bracket_follows(const Stream& stream) const {
  for (auto source = stream.sources.rbegin(); source != stream.sources.rend(); ++source) {
    if (source->at < source->tokens.size()) return source->tokens[source->at].is('(');
  }
  return stream.at < stream.base.size() && stream.base[stream.at].is('(');
}

// Takes everything from the opening bracket to the closing one; false when there is none.
bool MacroExpander::read_arguments(Stream& stream, std::vector<Token>& list, Token& close) {
  Token token;
  take(stream, token);
  list.push_back(token);
  for (std::size_t depth = 1; take(stream, token);) {
    ++steps_;
    if (token.is('(')) ++depth;
    if (token.is(')') && --depth == 0) {
      close = token;
      return true;
    }
    list.push_back(token);
  }
  return false;
}

void MacroExpander::expand(Tokens tokens, std::vector<Token>& out) {
  Stream stream;
  stream.base = tokens;
  run(stream, out);
}

void MacroExpander::run(Stream& stream, std::vector<Token>& out) {
  Token token;
  while (take(stream, token)) {
    if (token.is_identifier() && !token.never_expand && !spent()) {
      MacroTable::Name* const name = macros_.find(token);
      const bool asked_for = !stream.sources.empty() || stream.outer != 0;
      if (name != nullptr && name->disabled) {
        token.never_expand = true;
      } else if (name != nullptr && (asked_for || macros_.is_hot(*name))) {
        if (expand_name(stream, token, *name, out)) continue;
      } else if (name != nullptr && name->is_kept) {
        // What it stands for registers nothing.
        note_use(*name, token, true, 0);
      }
    }
    if (out.size() >= limits_.tokens) {
      unit_.truncated = true;
      continue;
    }
    out.push_back(token);
  }
  if (spent()) unit_.truncated = true;
}

std::uint32_t MacroExpander::expansion_at(const Stream& stream, const Token& token,
                                          const MacroDefinition& macro) {
  if (token.expansion != 0) return token.expansion;
  if (stream.outer != 0) return stream.outer;
  MacroExpansion expansion;
  expansion.macro = token.text;
  expansion.offset = token.offset;
  expansion.length = token.length;
  expansion.definition = &macro;
  unit_.expansions.push_back(expansion);
  return static_cast<std::uint32_t>(unit_.expansions.size() - 1);
}

bool MacroExpander::expand_name(Stream& stream, const Token& token, MacroTable::Name& name,
                                std::vector<Token>& out) {
  std::vector<MacroTable::Definition> choices;
  bool function_like = false;
  for (std::uint32_t at = name.first; at != MacroTable::none; at = macros_[at].next) {
    const MacroTable::Definition& definition = macros_[at];
    if (unit_.conditions.exclude(token.condition, definition.condition)) continue;
    if (choices.empty()) function_like = definition.macro->function_like;
    if (definition.macro->function_like != function_like) continue;
    if (choices.size() < limits_.alternatives) choices.push_back(definition);
  }
  if (choices.empty()) return false;
  // In the order in which the file has them.
  std::reverse(choices.begin(), choices.end());
  if (function_like && !bracket_follows(stream)) return false;

  const std::uint32_t expansion = expansion_at(stream, token, *choices.front().macro);
  std::vector<Token> list;
  if (function_like) {
    Token close;
    const bool closed = read_arguments(stream, list, close);
    if (!closed) {
      out.push_back(token);
      out.insert(out.end(), list.begin(), list.end());
      return true;
    }
    MacroExpansion& place = unit_.expansions[expansion];
    if (stream.outer == 0 && stream.sources.empty() && close.expansion == 0) {
      place.length = close.offset + close.length - place.offset;
    }
    list.erase(list.begin());
    const bool fits = expand_choices(stream, token, name, choices, expansion, list);
    note_use(name, token, fits, arguments_in(list));
    if (!fits) {
      // No definition takes so many arguments.
      Token open = close;
      open.text = "(";
      out.push_back(token);
      out.push_back(open);
      out.insert(out.end(), list.begin(), list.end());
      out.push_back(close);
    }
    return true;
  }
  note_use(name, token, true, 0);
  return expand_choices(stream, token, name, choices, expansion, list);
}

void MacroExpander::note_use(const MacroTable::Name& name, const Token& token, bool fits,
                             std::uint32_t arguments) {
  if (!name.is_kept) return;
  for (const StatedUse& use : unit_.stated_uses) {
    if (use.fits == fits && use.macro == name.text) return;
  }
  unit_.stated_uses.push_back({name.text, token.offset, token.length, fits, arguments});
}

bool MacroExpander::expand_choices(Stream& stream, const Token& token, MacroTable::Name& name,
                                   std::span<const MacroTable::Definition> choices,
                                   std::uint32_t expansion, const std::vector<Token>& list) {
  Source source;
  bool any = false;
  for (const MacroTable::Definition& choice : choices) {
    Site site;
    site.macro = choice.macro;
    if (choice.macro->function_like && !bind(*choice.macro, list, site.arguments)) continue;
    any = true;
    site.expanded.resize(site.arguments.size());
    site.condition = unit_.conditions.both(token.condition, choice.condition);
    site.expansion = expansion;
    site.depth = stream.depth;
    const std::size_t start = source.tokens.size();
    substitute(site, choice.macro->body, source.tokens);
    if (source.tokens.size() > start) source.tokens[start].space_before = token.space_before;
  }
  if (!any) return false;
  name.disabled = true;
  source.macro = &name;
  stream.sources.push_back(std::move(source));
  return true;
}

// Adds a token of the body, or of an argument, as it comes out.
void MacroExpander::put(const Site& site, Token token, std::vector<Token>& out) {
  ++steps_;
  const MacroExpansion& place = unit_.expansions[site.expansion];
  token.offset = place.offset;
  token.length = place.length;
  token.expansion = site.expansion;
  token.condition = site.condition;
  out.push_back(token);
}

void MacroExpander::put_all(const Site& site, Tokens tokens, bool space_before,
                            std::vector<Token>& out) {
  if (spent()) return;
  const std::size_t start = out.size();
  steps_ += tokens.size();
  for (Token token : tokens) {
    // An argument keeps its place.
    token.expansion = site.expansion;
    token.condition = unit_.conditions.both(token.condition, site.condition);
    out.push_back(token);
  }
  if (out.size() > start) out[start].space_before = space_before;
}

const std::vector<Token>& MacroExpander::expanded_argument(Site& site, std::size_t index) {
  std::optional<std::vector<Token>>& expanded = site.expanded[index];
  if (!expanded) {
    expanded.emplace();
    if (site.depth >= limits_.argument_depth) {
      unit_.truncated = true;
      expanded = site.arguments[index];
    } else {
      Stream stream;
      stream.base = site.arguments[index];
      stream.outer = site.expansion;
      stream.depth = site.depth + 1;
      run(stream, *expanded);
    }
  }
  return *expanded;
}

// [cpp.stringize]: white space is one blank, and what would end the literal is escaped.
Token MacroExpander::stringized(const Site& site, const Token& mark, Tokens argument) {
  std::string text = "\"";
  for (const Token& token : argument) {
    if (&token != argument.data() && token.space_before) text += ' ';
    const bool quoted = token.kind == TokenKind::string || token.kind == TokenKind::character;
    for (const char byte : token.text) {
      if (quoted && (byte == '"' || byte == '\\')) text += '\\';
      text += byte;
    }
    if (text.size() > most_stringized_bytes) {
      unit_.truncated = true;
      break;
    }
  }
  text += '"';
  steps_ += text.size() / 16;
  Token token = mark;
  token.kind = TokenKind::string;
  token.text = unit_.arena.add(text);
  token.hash = 0;
  token.expansion = site.expansion;
  token.condition = site.condition;
  const MacroExpansion& place = unit_.expansions[site.expansion];
  token.offset = argument.empty() ? place.offset : argument.front().offset;
  token.length = argument.empty() ? place.length : argument.front().length;
  // From the first token to the last, where both stand in the file one behind the other.
  if (argument.size() > 1 && argument.back().offset > token.offset) {
    token.length = argument.back().offset + argument.back().length - token.offset;
  }
  return token;
}

// False where both together are no token; they are left as they are.
bool MacroExpander::paste(Token& left, const Token& right) {
  if (left.text.size() + right.text.size() > most_pasted_bytes) return false;
  const std::string_view text = unit_.arena.add(std::string(left.text) + std::string(right.text));
  steps_ += text.size() / 16;
  Lexer lexer(text, unit_.arena);
  Token made;
  if (!lexer.next(made) || made.text.size() != text.size()) return false;
  if (made.kind == TokenKind::directive) made.kind = TokenKind::punctuator;
  made.space_before = left.space_before;
  made.expansion = left.expansion;
  made.condition = unit_.conditions.both(left.condition, right.condition);
  // The place of the half that was written where the macro is used.
  const MacroExpansion& place = unit_.expansions[left.expansion];
  const Token& half = left.offset == place.offset ? right : left;
  made.offset = half.offset;
  made.length = half.length;
  left = made;
  return true;
}

// The tokens of the body from `at` on that are one operand; `at` is behind them. Of an operand of
// `##`, arguments are not expanded.
void MacroExpander::put_operand(Site& site, Tokens body, std::size_t& at, bool raw,
                                std::vector<Token>& out) {
  const Token& token = body[at++];
  const auto is_parameter = [&](const Token& candidate) {
    return candidate.expansion != 0 && site.macro->function_like;
  };
  if (site.macro->function_like && token.is('#') && at < body.size() && is_parameter(body[at])) {
    ++steps_;
    out.push_back(stringized(site, token, site.arguments[body[at++].expansion - 1]));
  } else if (is_parameter(token)) {
    const std::size_t index = token.expansion - 1;
    const bool as_written = raw || is_paste(body, at);
    put_all(site, as_written ? site.arguments[index] : expanded_argument(site, index),
            token.space_before, out);
  } else if (site.macro->variadic && token.is("__VA_OPT__") && at < body.size() &&
             body[at].is('(')) {
    const std::size_t close = closing_bracket(body, at);
    const Tokens inside = body.subspan(at + 1, close - std::min(close, at + 1));
    at = std::min(close + 1, body.size());
    if (!expanded_argument(site, site.arguments.size() - 1).empty()) {
      substitute(site, inside, out);
    }
  } else {
    put(site, token, out);
  }
}

void MacroExpander::substitute(Site& site, Tokens body, std::vector<Token>& out) {
  const std::size_t start = out.size();
  // What stands before a `##` came out as nothing.
  bool left_empty = true;
  std::vector<Token> operand;
  for (std::size_t at = 0; at < body.size() && !spent();) {
    if (!body[at].is("##") || at == 0 || at + 1 == body.size()) {
      const std::size_t before = out.size();
      put_operand(site, body, at, false, out);
      left_empty = out.size() == before;
      continue;
    }
    ++at;
    // GNU's `, ## __VA_ARGS__`: without arguments the comma goes, too.
    const bool takes_rest =
        site.macro->variadic && body[at].expansion == site.macro->parameters.size();
    if (takes_rest && body[at - 2].is(',') && out.size() > start) {
      if (site.arguments.back().empty()) out.pop_back();
      const std::vector<Token>& rest = expanded_argument(site, body[at].expansion - 1);
      put_all(site, rest, !rest.empty() && rest.front().space_before, out);
      ++at;
      left_empty = false;
      continue;
    }
    operand.clear();
    put_operand(site, body, at, true, operand);
    std::size_t pasted = 0;
    if (!operand.empty() && !left_empty && out.size() > start && paste(out.back(), operand[0])) {
      pasted = 1;
    }
    left_empty = left_empty && operand.empty();
    out.insert(out.end(), operand.begin() + static_cast<std::ptrdiff_t>(pasted), operand.end());
  }
}

}  // namespace opseal
