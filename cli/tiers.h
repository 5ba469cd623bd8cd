#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "opseal/facts.h"
#include "opseal/finding.h"
#include "opseal/rule.h"

namespace opseal {

// Which kind of reading each finding rests on: what a rule says, but for what stands in a source,
// where a rule about manifests was told of it by a reader of text, or by libclang.
class Tiers {
 public:
  explicit Tiers(const Facts& facts);
  Tier of(const Finding& finding) const;

 private:
  struct Start {
    std::uint32_t file = 0;
    // Bytes.
    std::uint64_t offset = 0;
    bool of_sources = false;
  };
  void find_typed(const Fact& fact);
  bool is_of_another(const Location& where) const;

  // In the order of their files and places.
  std::vector<Start> documents_;
  // By file.
  std::vector<bool> of_sources_;
  // Where objects are that say `tier`, and what they hold: file and offset.
  std::set<std::pair<std::uint32_t, std::uint64_t>> typed_;
};

}  // namespace opseal
