#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzers/source/tokens.h"
#include "opseal/build_condition.h"

namespace opseal {

// The conditions of one file by number, so that a token carries four bytes. Equal ones have one
// number; 0 is "in every build".
class ConditionTable {
 public:
  static constexpr std::uint32_t always = 0;
  // No file has so many; from here on `add` says `always`.
  static constexpr std::size_t most = 1 << 16;

  ConditionTable() { clear(); }
  ConditionTable(const ConditionTable&) = delete;
  ConditionTable& operator=(const ConditionTable&) = delete;
  ConditionTable(ConditionTable&&) = default;
  ConditionTable& operator=(ConditionTable&&) = default;
  void clear();

  // Valid until one is added.
  const BuildCondition& operator[](std::uint32_t id) const { return conditions_[id]; }
  std::size_t size() const { return conditions_.size(); }

  std::uint32_t add(const BuildCondition& condition);
  // One of another table.
  std::uint32_t add(const ConditionTable& from, std::uint32_t id);
  std::uint32_t both(std::uint32_t left, std::uint32_t right);
  bool exclude(std::uint32_t left, std::uint32_t right) const;
  bool implies(std::uint32_t left, std::uint32_t right) const;
  bool never(std::uint32_t id) const { return exclude(id, id); }

 private:
  std::uint32_t add(const std::string& text, const BuildCondition& condition);

  std::vector<BuildCondition> conditions_;
  // Of each its key in `by_text_`; null for the first.
  std::vector<const std::string*> texts_;
  std::unordered_map<std::string, std::uint32_t> by_text_;
  std::unordered_map<std::uint64_t, std::uint32_t> both_;
  mutable std::unordered_map<std::uint64_t, bool> exclude_;
  mutable std::unordered_map<std::uint64_t, bool> implies_;
};

// The conditionals around a place of a file, read directive by directive.
class Conditionals {
 public:
  explicit Conditionals(ConditionTable& table) : table_(table) {}

  // Takes `if`, `ifdef`, `ifndef`, `elif`, `elifdef`, `elifndef`, `else` and `endif`, with the
  // tokens behind the word. False when it is another directive.
  bool read(std::string_view directive, Tokens tokens);
  // To be told of each `#define`. True when the definition is there for builds without one alone:
  // `#ifndef X`, then `#define X`. Such a conditional is the guard of a header or makes a default,
  // and no condition of what follows in it.
  bool defines(std::string_view name);

  std::uint32_t current() const { return frames_.empty() ? table_.always : frames_.back().current; }
  // No build comes here.
  bool dead() const { return !frames_.empty() && frames_.back().dead; }

 private:
  // Deeper ones add no condition.
  static constexpr std::size_t most_frames = 64;
  static constexpr std::size_t most_branches = 32;

  struct Frame {
    std::uint32_t outer = 0;
    bool outer_dead = false;
    // None of the branches before.
    BuildCondition before;
    std::uint32_t current = 0;
    bool dead = false;
    // X of `#ifndef X`, until it is defined or another branch begins.
    std::string guard;
  };

  void enter(Frame& frame, const BuildCondition& branch);

  ConditionTable& table_;
  std::vector<Frame> frames_;
  std::size_t too_deep_ = 0;
};

}  // namespace opseal
