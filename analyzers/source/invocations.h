#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/preprocessor.h"
#include "analyzers/source/tokens.h"

namespace opseal {

constexpr std::uint32_t no_token = 0xffffffff;
constexpr std::uint32_t no_scope = 0xffffffff;

// Indices into `SourceUnit::tokens`; the end is not in it.
struct TokenRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool empty() const { return begin >= end; }
};

enum class ScopeKind : std::uint8_t {
  name_space,  // `namespace a::b {`; empty name = unnamed
  linkage,     // `extern "C" {`
  type,        // class, struct, union, enum
  function,
  lambda,
  // A word of the vocabulary with a block behind it: `TORCH_LIBRARY(a, m) {`.
  macro_block,
  // Anything else in braces: `if`, `try`, an initializer.
  other,
};

struct Scope {
  ScopeKind kind = ScopeKind::other;
  // Function: with what stands before `::`, `A::run`.
  std::string name;
  // Index into `Invocations::scopes`, or `no_scope`.
  std::uint32_t parent = no_scope;
  // Inside the braces.
  TokenRange body;
  // Function, lambda, macro_block: inside the round brackets. Of a lambda without any, empty.
  TokenRange parameters;
  // Index of the token that `name` ends with; no_token where there is none.
  std::uint32_t name_token = no_token;
  // macro_block: index into `Invocations::list`.
  std::uint32_t invocation = no_token;
};

enum class InvocationForm : std::uint8_t {
  call,         // `NAME(…)`, `NAME<…>(…)`
  declaration,  // `NAME variable(…)`
  member,       // `x.NAME(…)`, `x->NAME<…>(…)`
};

// A use of a word of the vocabulary, or a call of one of its members. Where `#if` or a macro with
// several definitions stand between its brackets, there is one for each choice, with its condition;
// what stands in braces does not count for that. A choice may leave an argument empty.
struct Invocation {
  InvocationForm form = InvocationForm::call;
  std::string_view name;
  // declaration: the variable. member: what it is called on, where that is one name: `m`.
  std::string_view object;
  // member: the one whose result it is called on, `f().op(…).op(…)`; index into the list, else
  // no_token.
  std::uint32_t previous = no_token;
  // Of the name, and of the brackets.
  std::uint32_t name_token = 0;
  std::uint32_t open = 0;
  std::uint32_t close = 0;
  // call: divided as the preprocessor does it, at commas of template arguments, too.
  std::vector<Tokens> arguments;
  // Between `<` and `>`.
  TokenRange template_arguments;
  // Inside the braces that follow.
  TokenRange body;
  bool has_body = false;
  // Place in the file: from the name to the closing bracket, or the macro that it came through.
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  // Index into `SourceUnit::conditions`.
  std::uint32_t condition = 0;
  // The macro of the project that made it; empty when it was written out.
  std::string_view through_macro;
  // The innermost; no_scope at the top.
  std::uint32_t scope = no_scope;
};

// The shape of a source: its brackets, its scopes, its invocations. Kept for reuse.
struct Invocations {
  std::vector<Invocation> list;
  std::vector<Scope> scopes;
  // For each token the index of its partner where it is a bracket that has one, else no_token.
  // Brackets of branches that exclude each other share theirs: both `{` of `#if … { #else … {
  // #endif` have the one `}`, which has the first of them.
  std::vector<std::uint32_t> partners;
  // Tokens of choices, which the arguments point into.
  std::vector<std::vector<Token>> choices;

  void clear();
  // The innermost scope of a kind around a scope (itself included); null when there is none.
  const Scope* enclosing(std::uint32_t scope, ScopeKind kind) const;
  // The names of the namespaces and types around a scope: `a::b::C`.
  std::string qualifier(std::uint32_t scope) const;
};

// Adds the conditions of choices to the unit. Needs: it outlives the use of what is found.
void find_invocations(SourceUnit& unit, const Vocabulary& vocabulary, Invocations& found);

// One call of a chain: `.Arg<T>("x")`.
struct ChainLink {
  std::string_view name;
  Tokens template_arguments;
  Tokens arguments;
  // Of the name, within the tokens.
  std::uint32_t at = 0;
};

// The calls of the first chain in the tokens: those of `a::b().x().y<T>(z)` are `x` and `y`. A
// chain ends before anything but `.` or `->`.
std::vector<ChainLink> read_chain(Tokens tokens);

// The partners of all brackets, see Invocations.
void match_brackets(const SourceUnit& unit, std::vector<std::uint32_t>& partners);

// What the braces at `open` hold, from what stands before them; `name`, `parameters` and
// `name_token` are set where the kind has them. Needs: they have a partner.
Scope scope_at(const SourceUnit& unit, const std::vector<std::uint32_t>& partners,
               std::uint32_t open);

}  // namespace opseal
