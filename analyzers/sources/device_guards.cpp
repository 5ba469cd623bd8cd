#include "analyzers/sources/device_guards.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyzers/source/without_macro.h"
#include "analyzers/sources/cpp_function.h"
#include "opseal/build_condition.h"

namespace opseal {
namespace {

constexpr std::string_view architecture = "__CUDA_ARCH__";
// Conditionals of more branches choose between ways to do the work.
constexpr std::size_t most_branches = 8;

enum class Deed : std::uint8_t { nothing, asserts, traps, code };

std::string_view word_of(Deed deed) {
  switch (deed) {
    case Deed::nothing:
      return "nothing";
    case Deed::asserts:
      return "assert";
    case Deed::traps:
      return "trap";
    case Deed::code:
      break;
  }
  return "code";
}

bool traps(const Token& token) {
  return token.is("__trap") || token.is("__builtin_trap") || token.is("abort") ||
         (token.kind == TokenKind::string && token.text.find("trap") != token.text.npos);
}

bool is_without_effect(Tokens statement) {
  if (statement.empty()) return true;
  if (statement.size() == 1) return statement[0].is("return");
  const bool discards = statement.size() >= 4 && statement[0].is('(') && statement[1].is("void") &&
                        std::none_of(statement.begin() + 3, statement.end(),
                                     [](const Token& token) { return token.is('('); });
  return discards || statement[0].text.find("UNUSED") != std::string_view::npos;
}

Deed deed_of(Tokens tokens) {
  if (std::any_of(tokens.begin(), tokens.end(), traps)) return Deed::traps;
  Deed deed = Deed::nothing;
  for (std::size_t at = 0; at < tokens.size();) {
    std::size_t end = at;
    while (end < tokens.size() && !tokens[end].is(';')) ++end;
    const Tokens statement = tokens.subspan(at, end - at);
    at = end + 1;
    if (is_without_effect(statement)) continue;
    if (!statement[0].is("assert")) return Deed::code;
    deed = Deed::asserts;
  }
  return deed;
}

struct Branch {
  Tokens asks;
  Deed deed = Deed::nothing;
  bool is_else = false;
  // `ifdef`, `ifndef`: it asks for a name alone.
  bool asks_name = false;
};

// Those of the conditional that begins there, if they reach to the end of the body.
std::vector<Branch> branches_of(const PlainSource& source, const SourceBranch& first,
                                TokenRange body) {
  std::vector<Branch> found;
  const Tokens tokens = source.unit.tokens;
  const SourceBranch* branch = &first;
  while (found.size() < most_branches) {
    const TokenRange range = branch->tokens;
    found.push_back({source.directive(branch->asks),
                     deed_of(tokens.subspan(range.begin, range.end - range.begin)),
                     branch->word == "else", branch->word.ends_with("def")});
    if (branch->next == no_token) {
      if (range.end != body.end) found.clear();
      return found;
    }
    branch = &source.branches[branch->next];
  }
  return {};
}

BodyGuard guard_of(std::vector<Branch> branches) {
  const bool compares = std::any_of(branches.begin(), branches.end(), [](const Branch& branch) {
    return without_macro(branch.asks, architecture).compares ||
           (!branch.asks_name &&
            std::any_of(branch.asks.begin(), branch.asks.end(), [](const Token& token) {
              return token.text.starts_with("__CUDA_ARCH_FEAT_SM");
            }));
  });
  if (!compares) return {};
  const Branch last = branches.back();
  // `#if __CUDA_ARCH__ < 900`, then nothing; the work stands behind `#else`.
  if (branches.size() == 2 && last.is_else && last.deed == Deed::code &&
      branches.front().deed != Deed::code) {
    const BuildCondition fails = BuildCondition::of(text_of(branches.front().asks));
    return {(!fails).text(), word_of(branches.front().deed)};
  }
  if (last.is_else) branches.pop_back();
  std::string works;
  for (const Branch& branch : branches) {
    if (branch.deed != Deed::code) return {};
    if (branches.size() == 1) {
      works = text_of(branch.asks);
    } else {
      works += (works.empty() ? "(" : " || (") + text_of(branch.asks) + ")";
    }
  }
  return {works, word_of(last.is_else ? last.deed : Deed::nothing)};
}

}  // namespace

BodyGuard guard_of_body(const PlainSource& source, TokenRange body) {
  const std::vector<SourceBranch>& all = source.branches;
  auto at = std::partition_point(all.begin(), all.end(), [&](const SourceBranch& branch) {
    return branch.tokens.begin < body.begin;
  });
  // Conditionals that hold no token may stand in front.
  for (; at != all.end() && at->tokens.begin == body.begin; ++at) {
    if (!at->word.starts_with("if")) continue;
    std::vector<Branch> branches = branches_of(source, *at, body);
    if (!branches.empty()) return guard_of(std::move(branches));
  }
  return {};
}

}  // namespace opseal
