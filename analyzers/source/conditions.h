#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "opseal/build_condition.h"

namespace opseal {

// The conditions of one file by number, so that a token carries four bytes. Equal ones have one
// number; 0 is "in every build".
class ConditionTable {
 public:
  static constexpr std::uint32_t always = 0;

  ConditionTable() { clear(); }
  void clear();

  const BuildCondition& operator[](std::uint32_t id) const { return conditions_[id]; }
  std::size_t size() const { return conditions_.size(); }

  std::uint32_t add(const BuildCondition& condition);
  std::uint32_t both(std::uint32_t left, std::uint32_t right);
  bool exclude(std::uint32_t left, std::uint32_t right) const;
  bool never(std::uint32_t id) const { return exclude(id, id); }

 private:
  std::vector<BuildCondition> conditions_;
  std::unordered_map<std::string, std::uint32_t> by_text_;
  std::unordered_map<std::uint64_t, std::uint32_t> both_;
  mutable std::unordered_map<std::uint64_t, bool> exclude_;
};

}  // namespace opseal
