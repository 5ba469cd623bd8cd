#include "analyzers/sources/code_functions.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "analyzers/source/branches.h"
#include "analyzers/sources/cpp_function.h"

namespace opseal {
namespace {

constexpr std::string_view directive_mark = "opseal:";
// Fields of an initializer that are named in comments: `/* .supports_op = */`.
constexpr std::string_view marks[] = {directive_mark, ".supports", ".is_supported", "supports",
                                      "is_supported"};

// A function of one name more often than that is never the one that a call means.
constexpr std::size_t most_of_a_name = 16;

// `predicate(name)` in `opseal: predicate(name)`; empty where the comment says something else.
std::string_view named_in(std::string_view comment, std::string_view word) {
  if (!comment.starts_with(directive_mark)) return {};
  comment.remove_prefix(directive_mark.size());
  while (comment.starts_with(' ')) comment.remove_prefix(1);
  if (!comment.starts_with(word)) return {};
  comment.remove_prefix(word.size());
  const std::size_t close = comment.find(')');
  if (!comment.starts_with('(') || close == comment.npos) return {};
  return comment.substr(1, close - 1);
}

// The one of a file, else the only one there is.
template <typename Item>
const Item* meant_in(const std::vector<const Item*>& same, std::uint32_t file) {
  const Item* own = nullptr;
  std::size_t own_count = 0;
  for (const Item* item : same) {
    if (item->file != file) continue;
    own = item;
    ++own_count;
  }
  if (own_count == 1) return own;
  return own_count == 0 && same.size() == 1 ? same.front() : nullptr;
}

constexpr std::array<std::string_view, 9> ending_calls{
    "abort",          "exit",       "_exit",
    "terminate",      "quick_exit", "__builtin_unreachable",
    "__builtin_trap", "ggml_abort", "unreachable"};

// `[[noreturn]] void die(…)`, or a body of calls of which the last ends the program, or that ends
// in a `throw`, with no way out before.
bool ends_always(Tokens tokens, const CodeFunction& function) {
  constexpr std::uint32_t longest_head = 24;
  for (std::uint32_t at = function.name_token, steps = 0; at > 0 && steps < longest_head; ++steps) {
    const Token& token = tokens[--at];
    if (token.is(';') || token.is('}') || token.is('{')) break;
    if (token.is("noreturn") || token.is("_Noreturn") || token.is("__noreturn__")) return true;
  }
  if (function.statements.empty()) return false;
  for (const Statement& statement : function.statements) {
    const bool is_last = &statement == &function.statements.back();
    if (is_last && statement.kind == StatementKind::throws) return true;
    if (statement.kind != StatementKind::expression) return false;
  }
  const TokenRange last = function.statements.back().tokens;
  std::uint32_t at = last.begin;
  while (at + 2 < last.end && tokens[at + 1].is("::")) at += 2;
  return at + 1 < last.end && tokens[at + 1].is('(') &&
         std::find(ending_calls.begin(), ending_calls.end(), tokens[at].text) != ending_calls.end();
}

}  // namespace

void CodeFunctions::add(std::uint32_t number, std::string path, std::string bytes,
                        const StatedEnumerators& stated) {
  auto file = std::make_unique<CodeFile>();
  file->number = number;
  file->path = std::move(path);
  file->bytes = std::move(bytes);
  file->unit.bytes = file->bytes;
  read_branches(file->bytes, file->unit.arena, file->unit.tokens, file->unit.comments, marks);
  if (!stated.values.empty()) put_values(stated.values, file->unit.arena, file->unit.tokens);
  file->meant = stated.enumerations;
  match_brackets(file->unit, file->partners);
  files_.push_back(std::move(file));
  const std::size_t first_function = functions_.size();
  find_functions(static_cast<std::uint32_t>(files_.size() - 1));
  files_.back()->enumerations = find_enumerations(files_.back()->unit.tokens);
  read_directives(*files_.back(), first_function);
  CodeFile& added = *files_.back();
  added.tables = find_enumerator_tables(added.unit.tokens, added.partners,
                                        static_cast<std::uint32_t>(files_.size() - 1));
  for (const EnumeratorTable& table : added.tables) {
    std::vector<const EnumeratorTable*>& same = tables_[table.name];
    if (same.size() < most_of_a_name) same.push_back(&table);
  }
}

const EnumeratorTable* CodeFunctions::find_table(std::string_view name, std::uint32_t file) const {
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : meant_in(found->second, file);
}

void CodeFunctions::resolve_names(const CodeFunctions& others) {
  EnumeratorNames names([&](std::string_view name) {
    return enumeration_of(name) != nullptr || others.enumeration_of(name) != nullptr;
  });
  for (std::uint32_t file = 0; file < files_.size(); ++file) {
    const CodeFile& one = *files_[file];
    names.read(file, one.unit.tokens, one.partners, one.unit, one.enumerations);
  }
  if (names.empty()) return;
  for (std::uint32_t file = 0; file < files_.size(); ++file) {
    CodeFile& one = *files_[file];
    names.replace(file, one.unit.tokens, one.enumerations);
    for (EnumeratorTable& table : one.tables) {
      for (EnumeratorRow& row : table.rows) row.enumerator = one.unit.tokens[row.token].text;
    }
  }
}

void CodeFunctions::add_enumerations(const std::string& bytes) {
  texts_.push_back(std::make_unique<std::string>(bytes));
  std::vector<Token> tokens;
  std::vector<SourceComment> comments;
  read_branches(*texts_.back(), arena_, tokens, comments, {});
  find_enumerations(tokens);
}

const CodeFunction* CodeFunctions::find(std::string_view name, std::uint32_t file) const {
  const auto found = by_name_.find(base_of(name));
  if (found == by_name_.end()) return nullptr;
  return meant_in(found->second, file);
}

const CodeEnumeration* CodeFunctions::enumeration_of(std::string_view enumerator) const {
  const auto found = by_enumerator_.find(enumerator);
  return found == by_enumerator_.end() ? nullptr : found->second;
}

void CodeFunctions::find_functions(std::uint32_t number) {
  const CodeFile& file = *files_[number];
  const std::vector<Token>& tokens = file.unit.tokens;
  for (std::uint32_t at = 0; at < tokens.size(); ++at) {
    if (!tokens[at].is('{')) continue;
    const std::uint32_t close = file.partners[at];
    if (close == no_token || close <= at) continue;
    Scope scope = scope_at(file.unit, file.partners, at);
    if (scope.kind == ScopeKind::other) {
      at = close;
      continue;
    }
    if (scope.kind != ScopeKind::function || scope.name_token == no_token) continue;
    auto function = std::make_unique<CodeFunction>();
    function->name = std::move(scope.name);
    function->file = number;
    function->name_token = scope.name_token;
    function->body = {at + 1, close};
    read_parameters(file, scope.parameters, *function);
    function->statements = read_statements(tokens, file.partners, function->body);
    function->never_returns = ends_always(tokens, *function);
    functions_.push_back(std::move(function));
    auto& same = by_name_[base_of(functions_.back()->name)];
    if (same.size() < most_of_a_name) same.push_back(functions_.back().get());
    at = close;
  }
}

void CodeFunctions::read_parameters(const CodeFile& file, TokenRange range,
                                    CodeFunction& function) const {
  if (range.empty()) return;
  const Tokens inside(file.unit.tokens.data() + range.begin, range.end - range.begin);
  for (const Tokens part : split_typed(inside)) {
    std::string_view name;
    std::size_t words = 0;
    for (const Token& token : part) {
      if (token.is('=') || token.is('[')) break;
      if (!token.is_identifier()) continue;
      name = token.text;
      ++words;
    }
    function.parameters.push_back(words > 1 ? name : std::string_view());
  }
}

std::vector<TokenRange> CodeFunctions::find_enumerations(Tokens tokens) {
  std::vector<TokenRange> bodies;
  for (std::size_t at = 0; at + 3 < tokens.size(); ++at) {
    if (!tokens[at].is("enum")) continue;
    auto enumeration = std::make_unique<CodeEnumeration>();
    std::size_t open = at + 1;
    // `enum class [[attribute]] name : type {`
    constexpr std::size_t longest_head = 16;
    for (; open < tokens.size() && open < at + longest_head && !tokens[open].is('{'); ++open) {
      if (tokens[open].is(';') || tokens[open].is('(') || tokens[open].is(')')) break;
      const bool is_word =
          tokens[open].is_identifier() && !tokens[open].is("class") && !tokens[open].is("struct");
      if (is_word && enumeration->name.empty()) enumeration->name = tokens[open].text;
    }
    if (open >= tokens.size() || !tokens[open].is('{')) continue;
    bool expects_name = true;
    std::size_t depth = 0;
    std::size_t end = open + 1;
    std::unordered_set<std::string_view> before;
    for (; end < tokens.size() && !(depth == 0 && tokens[end].is('}')); ++end) {
      const Token& token = tokens[end];
      if (token.is('(') || token.is('{')) ++depth;
      if ((token.is(')') || token.is('}')) && depth > 0) --depth;
      if (token.kind == TokenKind::directive) enumeration->sequential = false;
      if (depth == 0 && token.is(',')) {
        expects_name = true;
      } else if (expects_name && token.is_identifier()) {
        enumeration->enumerators.push_back(token.text);
        before.insert(token.text);
        enumeration->is_alias.push_back(false);
        expects_name = false;
      } else if (depth == 0 && token.is('=') && !enumeration->enumerators.empty()) {
        const Token& value = tokens[end + 1 < tokens.size() ? end + 1 : end];
        const auto& names = enumeration->enumerators;
        enumeration->is_alias.back() = value.is_identifier() && value.text != names.back() &&
                                       before.contains(value.text) && end + 2 < tokens.size() &&
                                       (tokens[end + 2].is(',') || tokens[end + 2].is('}'));
        const bool counts_on = names.size() == 1 && value.is("0");
        if (!counts_on) enumeration->sequential = false;
      }
    }
    at = end;
    bodies.push_back({static_cast<std::uint32_t>(open + 1), static_cast<std::uint32_t>(end)});
    for (const std::string_view enumerator : enumeration->enumerators) {
      by_enumerator_.try_emplace(enumerator, enumeration.get());
    }
    enumerations_.push_back(std::move(enumeration));
  }
  return bodies;
}

void CodeFunctions::read_directives(const CodeFile& file, std::size_t first_function) {
  for (const SourceComment& comment : file.unit.comments) {
    const std::string_view predicate = named_in(comment.text, "predicate");
    const std::string_view dispatch = named_in(comment.text, "dispatch");
    if (predicate.empty() && dispatch.empty()) continue;
    for (std::size_t at = first_function; at < functions_.size(); ++at) {
      CodeFunction& function = *functions_[at];
      if (function.name_token < comment.next_token) continue;
      // Directly above: no statement and no other body stands between.
      const auto between =
          std::find_if(file.unit.tokens.begin() + comment.next_token,
                       file.unit.tokens.begin() + function.name_token,
                       [](const Token& token) { return token.is(';') || token.is('}'); });
      if (between != file.unit.tokens.begin() + function.name_token) break;
      if (!predicate.empty()) function.predicate_of.emplace_back(predicate);
      if (!dispatch.empty()) function.dispatch_of.emplace_back(dispatch);
      break;
    }
  }
}

}  // namespace opseal
