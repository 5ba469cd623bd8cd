#include "analyzers/sources/statements.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "analyzers/words.h"

namespace opseal {

Statements::Statements(const PlainSource& source, TokenRange body, std::uint32_t open)
    : tokens_(source.unit.tokens), partners_(source.shape.partners) {
  for (const Scope& scope : source.shape.scopes) {
    const bool within = scope.body.begin > body.begin && scope.body.end <= body.end;
    if (scope.kind == ScopeKind::lambda && within) lambdas_.push_back(scope.body);
  }
  std::sort(lambdas_.begin(), lambdas_.end(),
            [](const TokenRange& a, const TokenRange& b) { return a.begin < b.begin; });
  blocks_.push_back({});
  split(body, open);
  for (std::uint32_t index = 0; index < statements_.size(); ++index) {
    const TokenRange range = statements_[index].tokens;
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      if (token(at).is_identifier() && gives_value(at, range)) {
        by_name_.emplace(token(at).text, index);
      }
    }
  }
}

void Statements::end_statement(std::uint32_t end) {
  if (start_ < end) statements_.push_back({{start_, end}, block_});
}

bool Statements::begins_branch() const {
  return is_one_of(token(start_).text, {"if", "else", "for", "while", "switch"});
}

// The head is a statement of its own too: it may give a value to what a loop goes through.
void Statements::open_block(std::uint32_t end, bool single) {
  Block block;
  block.outer = block_;
  block.single = single;
  if (start_ < end && begins_branch()) {
    block.head = {start_, end};
    if (token(start_).is("else")) block.before = ended_;
  }
  end_statement(end);
  block_ = static_cast<std::uint32_t>(blocks_.size());
  blocks_.push_back(block);
}

void Statements::close_block() {
  ended_ = blocks_[block_].head;
  block_ = blocks_[block_].outer;
}

void Statements::close_singles() {
  while (blocks_[block_].single) close_block();
}

void Statements::split(TokenRange body, std::uint32_t open) {
  start_ = body.begin;
  std::uint32_t at = body.begin;
  while (at < body.end) {
    const Token& one = token(at);
    const std::uint32_t partner = partners_[at];
    if (one.is('(') || one.is('[')) {
      const bool closed = partner != no_token && partner > at && partner < body.end;
      const std::uint32_t next = closed ? partner + 1 : at + 1;
      // `if (causal) graph.mask();`
      const bool branch = closed && one.is('(') && at < start_ + 4 && begins_branch();
      if (branch && next < body.end && !token(next).is('{') && !token(next).is(';')) {
        open_block(next, true);
        start_ = next;
      }
      at = next;
    } else if (one.is('{')) {
      at = brace(at, open);
    } else if (one.is('}')) {
      end_statement(at);
      close_block();
      close_singles();
      start_ = ++at;
    } else if (one.is("else") && at == start_ && at + 1 < body.end && !token(at + 1).is("if") &&
               !token(at + 1).is('{')) {
      open_block(at + 1, true);
      start_ = ++at;
    } else {
      const bool label = one.is(':') && is_one_of(token(start_).text, {"case", "default"});
      if (one.is(';')) end_statement(at);
      if (one.is(';') || label) start_ = at + 1;
      if (one.is(';')) close_singles();
      ++at;
    }
  }
  end_statement(body.end);
}

// Where to go on behind an opening brace.
std::uint32_t Statements::brace(std::uint32_t at, std::uint32_t open) {
  const auto lambda = std::lower_bound(
      lambdas_.begin(), lambdas_.end(), at + 1,
      [](const TokenRange& one, std::uint32_t begin) { return one.begin < begin; });
  const bool is_lambda = lambda != lambdas_.end() && lambda->begin == at + 1;
  const bool entered = is_lambda && open >= lambda->begin && open < lambda->end;
  const std::uint32_t partner = partners_[at];
  if (!entered && (is_lambda || !is_block(at))) {
    return partner != no_token && partner > at ? partner + 1 : at + 1;
  }
  if (entered) start_ = at;
  open_block(at, false);
  start_ = at + 1;
  return at + 1;
}

// Behind anything else a brace begins a list of values.
bool Statements::is_block(std::uint32_t brace) const {
  if (brace == 0 || brace == start_) return true;
  const Token& before = token(brace - 1);
  return before.is(')') || is_one_of(before.text, {"else", "do", "try"});
}

// The brackets stand in front, behind `const auto&`; further on they are those of something else.
bool Statements::is_unpacked(std::uint32_t at, TokenRange statement) const {
  for (std::uint32_t open = statement.begin; open < statement.begin + 4 && open < at; ++open) {
    if (!token(open).is('[')) continue;
    return partners_[open] != no_token && at < partners_[open];
  }
  return false;
}

bool Statements::gives_value(std::uint32_t at, TokenRange statement) const {
  const bool first = at == statement.begin;
  const std::string_view next = at + 1 < statement.end ? token(at + 1).text : std::string_view();
  const std::string_view before = first ? std::string_view() : token(at - 1).text;
  if (is_one_of(before, {".", "->", "::"}) || next == "::") return false;
  if (is_one_of(next, {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>=", "%="})) {
    return true;
  }
  if (next == ":") return token(statement.begin).is("for");
  if (first) return is_one_of(next, {".", "->", "[", "<<", "++", "--"});
  if (before == "&" && at >= 2 && is_one_of(token(at - 2).text, {"(", ","})) return true;
  if (next == "." && at + 2 < statement.end && token(at + 2).is("data")) return true;
  // `auto [a, b] = f();`
  if (is_one_of(before, {"[", ","}) && is_one_of(next, {"]", ","})) {
    return is_one_of(token(statement.begin).text, {"auto", "const"}) && is_unpacked(at, statement);
  }
  const bool typed = token(at - 1).is_identifier() || is_one_of(before, {">", "*", "&"});
  return typed && is_one_of(next, {"(", "{"}) &&
         !is_one_of(before, {"return", "new", "delete", "case", "else", "throw", "co_return"});
}

std::vector<std::string_view> Statements::names_in(TokenRange range) const {
  std::vector<std::string_view> names;
  for (std::uint32_t at = range.begin; at < range.end; ++at) {
    if (!token(at).is_identifier()) continue;
    if (at > 0 && is_one_of(token(at - 1).text, {".", "->", "::"})) continue;
    if (at + 1 < tokens_.size() && token(at + 1).is("::")) continue;
    names.push_back(token(at).text);
  }
  return names;
}

Statements::Origins Statements::origins(const std::vector<std::string_view>& from,
                                        std::uint32_t until,
                                        const std::vector<std::string_view>& stop) const {
  Origins found;
  const std::set<std::string_view> stopped(stop.begin(), stop.end());
  std::set<std::string_view> known;
  std::set<std::uint32_t> done;
  std::set<std::uint32_t> asked;
  std::vector<std::string_view> waiting;
  const auto add = [&](std::string_view name) {
    if (!stopped.contains(name) && known.insert(name).second) waiting.push_back(name);
  };
  const auto add_all = [&](TokenRange range) {
    found.read.push_back(range);
    for (const std::string_view name : names_in(range)) add(name);
  };
  for (const std::string_view name : from) add(name);
  while (!waiting.empty()) {
    const std::string_view name = waiting.back();
    waiting.pop_back();
    const auto [first, last] = by_name_.equal_range(name);
    for (auto at = first; at != last; ++at) {
      const Statement& statement = statements_[at->second];
      if (statement.tokens.begin >= until || !done.insert(at->second).second) continue;
      add_all(statement.tokens);
      // What decides whether it is run.
      for (std::uint32_t block = statement.block; block != 0 && asked.insert(block).second;
           block = blocks_[block].outer) {
        add_all(blocks_[block].head);
        add_all(blocks_[block].before);
      }
    }
  }
  found.names.assign(known.begin(), known.end());
  return found;
}

}  // namespace opseal
