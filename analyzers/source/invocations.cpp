#include "analyzers/source/invocations.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace opseal {
namespace {

// Template arguments of one name.
constexpr std::uint32_t most_template_tokens = 512;
// Choices between the brackets of one invocation; beyond them branches stay together.
constexpr std::size_t most_choices = 16;
// Tokens between brackets that are read in one file.
constexpr std::uint64_t most_steps = 20'000'000;

bool is_member_operator(const Token& token) { return token.is('.') || token.is("->"); }

class InvocationFinder {
 public:
  InvocationFinder(SourceUnit& unit, const Vocabulary& vocabulary, Invocations& found)
      : unit_(unit),
        tokens_(unit.tokens),
        vocabulary_(vocabulary),
        found_(found),
        conditions_(unit.conditions) {
    for (const VocabularyWord& word : vocabulary.words) {
      first_letters_[static_cast<unsigned char>(word.text[0])] = true;
    }
  }

  void run() {
    match_brackets(unit_, found_.partners);
    for (std::uint32_t at = 0; at < tokens_.size(); ++at) {
      while (scope_ != no_scope && found_.scopes[scope_].body.end <= at) {
        scope_ = found_.scopes[scope_].parent;
      }
      const Token& token = tokens_[at];
      if (token.is('{')) {
        open_scope(at);
      } else if (token.is_identifier()) {
        read_name(at);
      }
    }
  }

 private:
  void open_scope(std::uint32_t at) {
    if (found_.partners[at] == no_token) return;
    Scope scope = scope_at(unit_, found_.partners, at);
    scope.parent = scope_;
    if (scope.kind == ScopeKind::function) {
      const auto by_word = by_name_.find(scope.name_token);
      if (by_word != by_name_.end()) {
        scope.kind = ScopeKind::macro_block;
        scope.invocation = by_word->second;
      }
    }
    scope_ = static_cast<std::uint32_t>(found_.scopes.size());
    found_.scopes.push_back(std::move(scope));
  }

  void read_name(std::uint32_t at) {
    const Token& token = tokens_[at];
    const bool is_member = at > 0 && is_member_operator(tokens_[at - 1]);
    if (is_member) {
      const auto members = vocabulary_.members;
      if (std::find(members.begin(), members.end(), token.text) == members.end()) return;
    } else {
      if (!first_letters_[static_cast<unsigned char>(token.text[0])]) return;
      const VocabularyWord* const word = vocabulary_.find(token.text);
      if (word == nullptr || word->use == WordUse::seed) return;
    }
    Invocation invocation;
    invocation.form = is_member ? InvocationForm::member : InvocationForm::call;
    invocation.name = token.text;
    invocation.name_token = at;
    std::uint32_t open = at + 1;
    if (is('<', open)) {
      open = behind_template(open);
      if (open == no_token) return;
      invocation.template_arguments = {at + 2, open - 1};
    }
    const bool declares = !is_member && open < tokens_.size() && tokens_[open].is_identifier();
    if (declares && is('(', open + 1)) {
      invocation.form = InvocationForm::declaration;
      invocation.object = tokens_[open].text;
      ++open;
    }
    if (!is('(', open) || found_.partners[open] == no_token) return;
    invocation.open = open;
    invocation.close = found_.partners[open];
    // Each reads what is between its brackets, and one may stand in the other.
    steps_ += invocation.close - open;
    if (steps_ > most_steps) {
      unit_.truncated = true;
      return;
    }
    if (is_member) describe_receiver(at - 1, invocation);
    finish(invocation);
  }

  bool is(char punctuator, std::uint32_t at) const {
    return at < tokens_.size() && tokens_[at].is(punctuator);
  }

  std::uint32_t behind_template(std::uint32_t at) const {
    const std::size_t end = std::min<std::size_t>(tokens_.size(), at + most_template_tokens);
    for (std::size_t depth = 0; at < end; ++at) {
      const Token& token = tokens_[at];
      if (token.is('<')) ++depth;
      if (token.is('>') && --depth == 0) return at + 1;
      if (token.is(';') || token.is('{') || token.is('}')) return no_token;
      if (token.is('(')) {
        if (found_.partners[at] == no_token) return no_token;
        at = found_.partners[at];
      }
    }
    return no_token;
  }

  void describe_receiver(std::uint32_t point, Invocation& invocation) {
    if (point == 0) return;
    const Token& before = tokens_[point - 1];
    if (before.is_identifier()) {
      const bool is_part =
          point >= 2 && (is_member_operator(tokens_[point - 2]) || tokens_[point - 2].is("::"));
      if (!is_part) invocation.object = before.text;
    } else if (before.is(')')) {
      const auto previous = by_close_.find(point - 1);
      if (previous != by_close_.end()) invocation.previous = previous->second;
    }
  }

  void finish(Invocation& invocation) {
    const Token& name = tokens_[invocation.name_token];
    const Token& close = tokens_[invocation.close];
    invocation.condition = name.condition;
    invocation.scope = scope_;
    invocation.through_macro = unit_.macro_of(name);
    const MacroExpansion& by = unit_.expansions[name.expansion];
    invocation.offset = name.expansion == 0 ? name.offset : by.offset;
    std::uint32_t end = close.offset + close.length;
    if (close.expansion != 0) {
      const MacroExpansion& last = unit_.expansions[close.expansion];
      end = last.offset + last.length;
    }
    invocation.length = std::max(end, invocation.offset) - invocation.offset;
    const std::uint32_t brace = invocation.close + 1;
    if (is('{', brace) && found_.partners[brace] != no_token) {
      invocation.has_body = true;
      invocation.body = {brace + 1, found_.partners[brace]};
    }
    const auto index = static_cast<std::uint32_t>(found_.list.size());
    by_close_.try_emplace(invocation.close, index);
    if (invocation.has_body) by_name_.try_emplace(invocation.name_token, index);
    divide(invocation);
  }

  // Adds the invocation, once for each choice that the conditions of its tokens leave.
  void divide(Invocation& invocation) {
    const std::vector<std::uint32_t> choices = choices_of(invocation);
    const Tokens all =
        Tokens(tokens_).subspan(invocation.open + 1, invocation.close - invocation.open - 1);
    if (choices.empty()) {
      invocation.arguments = arguments_of(invocation, all);
      found_.list.push_back(std::move(invocation));
      return;
    }
    for (const std::uint32_t choice : choices) {
      std::vector<Token> kept;
      for (const Token& token : all) {
        if (!conditions_.exclude(choice, token.condition)) kept.push_back(token);
      }
      found_.choices.push_back(std::move(kept));
      Invocation one = invocation;
      one.condition = choice;
      one.arguments = arguments_of(invocation, found_.choices.back());
      found_.list.push_back(std::move(one));
    }
  }

  // The vocabulary's words are macros, its members and classes are functions.
  static std::vector<Tokens> arguments_of(const Invocation& invocation, Tokens inside) {
    return invocation.form == InvocationForm::call ? split_arguments(inside)
                                                   : split_call_arguments(inside);
  }

  // Conditions of which each decides about every token; none where there is nothing to decide.
  std::vector<std::uint32_t> choices_of(const Invocation& invocation) {
    std::vector<std::uint32_t> choices;
    std::uint32_t last = invocation.condition;
    for (std::uint32_t at = invocation.open + 1; at < invocation.close; ++at) {
      const std::uint32_t condition = tokens_[at].condition;
      if (condition != last && !conditions_.implies(invocation.condition, condition)) {
        if (choices.empty()) choices.push_back(invocation.condition);
        divide_by(condition, choices);
      }
      last = condition;
      if (tokens_[at].is('{') && found_.partners[at] != no_token) {
        at = std::min(found_.partners[at], invocation.close);
      }
    }
    return choices;
  }

  void divide_by(std::uint32_t condition, std::vector<std::uint32_t>& choices) {
    std::vector<std::uint32_t> divided;
    for (const std::uint32_t choice : choices) {
      if (choices.size() >= most_choices || conditions_.implies(choice, condition) ||
          conditions_.exclude(choice, condition)) {
        divided.push_back(choice);
        continue;
      }
      const std::uint32_t without = conditions_.add(!conditions_[condition]);
      for (const std::uint32_t part : {condition, without}) {
        const std::uint32_t both = conditions_.both(choice, part);
        if (!conditions_.never(both)) divided.push_back(both);
      }
    }
    choices = std::move(divided);
  }

  SourceUnit& unit_;
  const std::vector<Token>& tokens_;
  const Vocabulary& vocabulary_;
  Invocations& found_;
  ConditionTable& conditions_;
  std::array<bool, 256> first_letters_{};
  std::uint32_t scope_ = no_scope;
  // Tokens between brackets that were read.
  std::uint64_t steps_ = 0;
  // Invocations by their closing bracket, and those with a body by their name.
  std::unordered_map<std::uint32_t, std::uint32_t> by_close_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_name_;
};

}  // namespace

void Invocations::clear() {
  list.clear();
  scopes.clear();
  partners.clear();
  choices.clear();
}

const Scope* Invocations::enclosing(std::uint32_t scope, ScopeKind kind) const {
  for (; scope != no_scope; scope = scopes[scope].parent) {
    if (scopes[scope].kind == kind) return &scopes[scope];
  }
  return nullptr;
}

std::string Invocations::qualifier(std::uint32_t scope) const {
  std::string names;
  for (; scope != no_scope; scope = scopes[scope].parent) {
    const Scope& here = scopes[scope];
    const bool named = here.kind == ScopeKind::name_space || here.kind == ScopeKind::type;
    if (!named || here.name.empty()) continue;
    names = names.empty() ? here.name : here.name + "::" + names;
  }
  return names;
}

void find_invocations(SourceUnit& unit, const Vocabulary& vocabulary, Invocations& found) {
  found.clear();
  InvocationFinder(unit, vocabulary, found).run();
}

std::vector<ChainLink> read_chain(Tokens tokens) {
  std::vector<ChainLink> links;
  const auto end = tokens.size();
  const auto starts_link = [&](std::size_t at) {
    return at + 1 < end && is_member_operator(tokens[at]) && tokens[at + 1].is_identifier();
  };
  std::size_t at = 0;
  while (at < end && !starts_link(at)) {
    if (tokens[at].is(';')) return links;
    if (tokens[at].is('(') || tokens[at].is('{')) at = closing_bracket(tokens, at);
    if (at < end) ++at;
  }
  while (starts_link(at)) {
    ChainLink link;
    link.name = tokens[at + 1].text;
    link.at = static_cast<std::uint32_t>(at + 1);
    at += 2;
    if (at < end && tokens[at].is('<')) {
      const std::size_t start = at + 1;
      std::size_t depth = 0;
      for (; at < end; ++at) {
        if (tokens[at].is('(')) at = closing_bracket(tokens, at);
        if (at >= end) break;
        if (tokens[at].is('<')) ++depth;
        if (tokens[at].is('>') && --depth == 0) break;
      }
      link.template_arguments = tokens.subspan(start, at - start);
      at = std::min(at + 1, end);
    }
    if (at < end && tokens[at].is('(')) {
      const std::size_t close = closing_bracket(tokens, at);
      link.arguments = tokens.subspan(at + 1, std::min(close, end) - at - 1);
      at = std::min(close + 1, end);
    }
    links.push_back(link);
  }
  return links;
}

}  // namespace opseal
