// Finds which brackets belong together in a text that has all branches of its conditionals one
// after the other. The conditions of the tokens tell where a branch begins: each starts with the
// brackets that were open before the first one, and after the last the brackets of one of them stay
// open.

#include <algorithm>

#include "analyzers/source/invocations.h"

namespace opseal {
namespace {

constexpr std::uint32_t none = 0xffffffff;

bool is_opening(const Token& token) { return token.is('(') || token.is('[') || token.is('{'); }
bool is_closing(const Token& token) { return token.is(')') || token.is(']') || token.is('}'); }
char partner_of(char closing) { return closing == ')' ? '(' : closing == ']' ? '[' : '{'; }

class BracketMatcher {
 public:
  BracketMatcher(const SourceUnit& unit, std::vector<std::uint32_t>& partners)
      : unit_(unit), partners_(partners) {}

  void run() {
    partners_.assign(unit_.tokens.size(), none);
    for (std::uint32_t at = 0; at < unit_.tokens.size(); ++at) {
      const Token& token = unit_.tokens[at];
      if (token.kind != TokenKind::punctuator) continue;
      const bool opens = is_opening(token);
      if (!opens && !is_closing(token)) continue;
      go_to(token.condition);
      if (opens) {
        open(at);
      } else {
        close(at);
      }
    }
    while (!frames_.empty()) leave();
    for (const auto& [twin, first] : twins_) partners_[twin] = partners_[first];
  }

 private:
  // An open bracket, and those that it stands in. Branches share what is below them.
  struct Open {
    std::uint32_t token = 0;
    std::uint32_t below = none;
    // The nearest `{`, itself included.
    std::uint32_t brace = none;
    std::uint32_t depth = 1;
  };

  struct Frame {
    std::uint32_t condition = 0;
    // What was open before the first branch, and after it where it has ended.
    std::uint32_t before = none;
    std::uint32_t after = none;
    bool has_after = false;
  };

  std::uint32_t depth_of(std::uint32_t open) const { return open == none ? 0 : opens_[open].depth; }

  void go_to(std::uint32_t condition) {
    const ConditionTable& table = unit_.conditions;
    while (!frames_.empty() && !table.implies(condition, frames_.back().condition)) {
      Frame& frame = frames_.back();
      const bool outer_ends =
          frames_.size() > 1 && !table.implies(condition, frames_[frames_.size() - 2].condition);
      if (outer_ends || !table.exclude(condition, frame.condition)) {
        leave();
        continue;
      }
      // Another branch of the same conditional.
      if (!frame.has_after) frame.after = top_;
      if (frame.has_after) join(frame.after, top_, depth_of(frame.before));
      frame.has_after = true;
      frame.condition = condition;
      top_ = frame.before;
      return;
    }
    const std::uint32_t current =
        frames_.empty() ? ConditionTable::always : frames_.back().condition;
    if (condition == current) return;
    Frame frame;
    frame.condition = condition;
    frame.before = top_;
    frames_.push_back(frame);
  }

  void leave() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    if (!frame.has_after) return;
    join(frame.after, top_, depth_of(frame.before));
    // The branch that leaves something open, or closes something, counts.
    if (frame.after != frame.before) top_ = frame.after;
  }

  // Brackets that two branches leave open, and that have their ends in common.
  void join(std::uint32_t first, std::uint32_t second, std::uint32_t down_to) {
    if (depth_of(first) != depth_of(second)) return;
    while (first != second && depth_of(first) > down_to) {
      twins_.emplace_back(opens_[second].token, opens_[first].token);
      first = opens_[first].below;
      second = opens_[second].below;
    }
  }

  void open(std::uint32_t at) {
    Open made;
    made.token = at;
    made.below = top_;
    made.depth = depth_of(top_) + 1;
    const auto index = static_cast<std::uint32_t>(opens_.size());
    const bool is_brace = unit_.tokens[at].is('{');
    made.brace = is_brace ? index : top_ == none ? none : opens_[top_].brace;
    opens_.push_back(made);
    top_ = index;
  }

  void close(std::uint32_t at) {
    if (top_ == none) return;
    const char wanted = partner_of(unit_.tokens[at].text[0]);
    std::uint32_t found = top_;
    // A brace ends what other brackets left open in it; these end nothing but themselves.
    if (wanted == '{') found = opens_[top_].brace;
    if (found == none || !unit_.tokens[opens_[found].token].is(wanted)) return;
    const std::uint32_t open_token = opens_[found].token;
    if (partners_[open_token] == none) partners_[open_token] = at;
    partners_[at] = open_token;
    top_ = opens_[found].below;
  }

  const SourceUnit& unit_;
  std::vector<std::uint32_t>& partners_;
  std::vector<Open> opens_;
  // Index into `opens_`.
  std::uint32_t top_ = none;
  std::vector<Frame> frames_;
  // Tokens: a bracket, and the one whose partner is its own.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> twins_;
};

}  // namespace

void match_brackets(const SourceUnit& unit, std::vector<std::uint32_t>& partners) {
  BracketMatcher(unit, partners).run();
}

}  // namespace opseal
