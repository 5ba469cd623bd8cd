#pragma once

#include <vector>

#include "opseal/finding.h"
#include "opseal/rule.h"

namespace opseal {

// Which kind of reading each finding rests on: what a rule says, but for what stands in a source,
// where a rule about manifests was told of it by a reader of text.
class Tiers {
 public:
  explicit Tiers(const Facts& facts);
  Tier of(const Finding& finding) const;

 private:
  // By file.
  std::vector<bool> of_sources_;
};

}  // namespace opseal
