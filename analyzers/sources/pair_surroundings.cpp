#include "analyzers/sources/pair_surroundings.h"

#include <algorithm>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/enumerator_mentions.h"
#include "analyzers/sources/predicate_names.h"

namespace opseal {
namespace {

// A name that is called more often is that of many functions.
constexpr std::size_t most_calls = 40;

}  // namespace

void PairSurroundings::find_calls() {
  if (has_calls_) return;
  has_calls_ = true;
  for (const auto& function : code_.functions()) {
    const Tokens tokens = code_.tokens_of(*function);
    for (std::uint32_t at = function->body.begin; at + 1 < function->body.end; ++at) {
      if (!tokens[at].is_identifier() || !tokens[at + 1].is('(')) continue;
      std::vector<Call>& calls = calls_[tokens[at].text];
      if (calls.size() <= most_calls) calls.emplace_back(function.get(), at);
    }
  }
}

bool PairSurroundings::is_narrowed(const SwitchSubject& dispatch) {
  find_calls();
  const auto found = calls_.find(base_of(dispatch.function->name));
  if (found == calls_.end()) return false;
  if (found->second.size() > most_calls) return true;
  for (const auto& [caller, at] : found->second) {
    if (caller == dispatch.function) continue;
    const std::uint32_t close = code_.files()[caller->file]->partners[at + 1];
    if (close == no_token || close <= at + 1) continue;
    const std::vector<Tokens> arguments =
        split_call_arguments(code_.tokens_of(*caller).subspan(at + 2, close - at - 2));
    if (dispatch.parameter >= arguments.size() || arguments[dispatch.parameter].empty()) continue;
    const Tokens argument = arguments[dispatch.parameter];
    const auto root = std::find_if(argument.begin(), argument.end(),
                                   [](const Token& token) { return token.is_identifier(); });
    if (root == argument.end()) continue;
    if (narrows(caller->statements, *caller, root->text, found->first)) return true;
  }
  return false;
}

// An `if` that asks something of the thing, of which one branch hands it on to another function.
bool PairSurroundings::narrows(const std::vector<Statement>& block, const CodeFunction& caller,
                               std::string_view root, std::string_view dispatch) const {
  return std::any_of(block.begin(), block.end(), [&](const Statement& statement) {
    const bool asks =
        statement.kind == StatementKind::if_ || statement.kind == StatementKind::switch_;
    if (asks && asks_of(statement.tokens, caller, root) &&
        (hands_on(statement.body, caller, root, dispatch) ||
         hands_on(statement.otherwise, caller, root, dispatch))) {
      return true;
    }
    return narrows(statement.body, caller, root, dispatch) ||
           narrows(statement.otherwise, caller, root, dispatch);
  });
}

// Something other than whether it is supported.
bool PairSurroundings::asks_of(TokenRange condition, const CodeFunction& caller,
                               std::string_view root) const {
  const Tokens tokens = code_.tokens_of(caller);
  for (std::uint32_t at = condition.begin; at < condition.end; ++at) {
    if (!tokens[at].is_identifier()) continue;
    if (tokens[at].is(root)) return true;
    if (at + 1 >= condition.end || !tokens[at + 1].is('(')) continue;
    const std::uint32_t close = code_.files()[caller.file]->partners[at + 1];
    const bool has_end = close != no_token && close > at && close < condition.end;
    if (has_end && sounds_like_predicate(tokens[at].text)) at = close;
  }
  return false;
}

bool PairSurroundings::hands_on(const std::vector<Statement>& block, const CodeFunction& caller,
                                std::string_view root, std::string_view dispatch) const {
  const Tokens tokens = code_.tokens_of(caller);
  return std::any_of(block.begin(), block.end(), [&](const Statement& statement) {
    for (std::uint32_t at = statement.tokens.begin; at + 1 < statement.tokens.end; ++at) {
      if (!tokens[at].is_identifier() || !tokens[at + 1].is('(')) continue;
      const std::uint32_t close = code_.files()[caller.file]->partners[at + 1];
      if (close == no_token || close <= at || close >= statement.tokens.end) continue;
      const Tokens inside = tokens.subspan(at + 2, close - at - 2);
      const bool gets =
          std::any_of(inside.begin(), inside.end(), [&](const Token& one) { return one.is(root); });
      if (gets && !tokens[at].is(dispatch)) return true;
      // What is handed on within is what the dispatch, or that call without the thing, gets.
      at = close;
    }
    return hands_on(statement.body, caller, root, dispatch) ||
           hands_on(statement.otherwise, caller, root, dispatch);
  });
}

bool PairSurroundings::has_one_of(const std::set<std::string_view>& values,
                                  const std::function<bool(const CodeFunction&)>& left_out) const {
  EnumeratorMentions mentions;
  for (const std::string_view value : values) mentions[value] = 0;
  count_mentions(
      code_,
      [&](const CodeFunction& function) {
        return left_out(function) || names_values(function.name) ||
               sounds_like_predicate(function.name);
      },
      mentions);
  return std::any_of(mentions.begin(), mentions.end(),
                     [](const auto& mention) { return mention.second > 0; });
}

}  // namespace opseal
