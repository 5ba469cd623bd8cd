#include "analyzers/source/conditions.h"

#include <utility>

namespace opseal {
namespace {

std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | right;
}

BuildCondition asked_by(std::string_view directive, Tokens tokens) {
  const std::string text = text_of(tokens);
  if (!directive.ends_with("def")) return BuildCondition::of(text);
  const BuildCondition defined = BuildCondition::of("defined(" + text + ")");
  return directive.ends_with("ndef") ? !defined : defined;
}

// X of `ifndef X` and of `if !defined(X)`.
std::string_view guard_of(std::string_view directive, Tokens tokens) {
  if (directive == "ifndef" && tokens.size() == 1) return tokens[0].text;
  if (directive != "if" || tokens.size() < 3 || !tokens[0].is('!') || !tokens[1].is("defined"))
    return {};
  if (tokens.size() == 3) return tokens[2].text;
  return tokens.size() == 5 && tokens[2].is('(') ? tokens[3].text : std::string_view();
}

}  // namespace

void ConditionTable::clear() {
  conditions_.assign(1, {});
  texts_.assign(1, nullptr);
  by_text_.clear();
  both_.clear();
  exclude_.clear();
  implies_.clear();
}

std::uint32_t ConditionTable::add(const BuildCondition& condition) {
  return condition.always() ? always : add(condition.text(), condition);
}

std::uint32_t ConditionTable::add(const ConditionTable& from, std::uint32_t id) {
  return id == always ? always : add(*from.texts_[id], from.conditions_[id]);
}

std::uint32_t ConditionTable::add(const std::string& text, const BuildCondition& condition) {
  if (conditions_.size() >= most) return always;
  const auto [known, is_new] =
      by_text_.try_emplace(text, static_cast<std::uint32_t>(conditions_.size()));
  if (is_new) {
    conditions_.push_back(condition);
    texts_.push_back(&known->first);
  }
  return known->second;
}

std::uint32_t ConditionTable::both(std::uint32_t left, std::uint32_t right) {
  if (left == right || right == always) return left;
  if (left == always) return right;
  const auto [known, is_new] = both_.try_emplace(pair_of(left, right), 0);
  if (is_new) known->second = add(conditions_[left] && conditions_[right]);
  return known->second;
}

bool ConditionTable::exclude(std::uint32_t left, std::uint32_t right) const {
  if (left == always && right == always) return false;
  if (left > right) std::swap(left, right);
  const auto [known, is_new] = exclude_.try_emplace(pair_of(left, right), false);
  if (is_new) known->second = conditions_[left].excludes(conditions_[right]);
  return known->second;
}

bool ConditionTable::implies(std::uint32_t left, std::uint32_t right) const {
  if (left == right || right == always) return true;
  const auto [known, is_new] = implies_.try_emplace(pair_of(left, right), false);
  if (is_new) known->second = conditions_[left].implies(conditions_[right]);
  return known->second;
}

void Conditionals::enter(Frame& frame, const BuildCondition& branch) {
  const BuildCondition condition = frame.before && branch;
  frame.dead = frame.outer_dead;
  frame.current = frame.outer;
  if (frame.dead) return;
  frame.current = table_.both(frame.outer, table_.add(condition));
  frame.dead = condition.never() || (frame.current != 0 && table_.never(frame.current));
  if (frame.before.size() < most_branches) frame.before = frame.before && !branch;
}

bool Conditionals::read(std::string_view directive, Tokens tokens) {
  const bool opens = directive == "if" || directive == "ifdef" || directive == "ifndef";
  const bool is_else = directive == "else";
  if (!opens && !is_else && directive != "endif" && !directive.starts_with("elif")) return false;
  if (opens) {
    if (frames_.size() >= most_frames) {
      ++too_deep_;
      return true;
    }
    Frame frame;
    frame.outer = current();
    frame.outer_dead = dead();
    enter(frame, asked_by(directive, tokens));
    frame.guard = guard_of(directive, tokens);
    frames_.push_back(std::move(frame));
    return true;
  }
  if (too_deep_ > 0) {
    if (directive == "endif") --too_deep_;
    return true;
  }
  if (frames_.empty()) return true;
  Frame& frame = frames_.back();
  frame.guard.clear();
  if (directive == "endif") {
    frames_.pop_back();
  } else {
    enter(frame, is_else ? BuildCondition() : asked_by(directive, tokens));
  }
  return true;
}

bool Conditionals::defines(std::string_view name) {
  if (frames_.empty() || frames_.back().guard.empty() || too_deep_ > 0) return false;
  Frame& frame = frames_.back();
  const bool is_guard = frame.guard == name;
  frame.guard.clear();
  if (is_guard) frame.current = frame.outer;
  return is_guard;
}

}  // namespace opseal
