#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "opseal/registration.h"

namespace opseal {

// Specs of one manifest by the name of their target. Of equal names the last one is in force.
class TargetSpecs {
 public:
  explicit TargetSpecs(const Fact& manifest) {
    for (const Fact target : manifest[Key::targets].items()) {
      if (target[Key::name].is_text() && all_read(target[Key::spec])) {
        rows_.emplace_back(target[Key::name].name(), target[Key::spec]);
      }
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.first < b.first; });
  }

  bool empty() const { return rows_.empty(); }

  Fact of(Name target) const {
    const auto after = std::upper_bound(rows_.begin(), rows_.end(), target,
                                        [](Name wanted, const Row& b) { return wanted < b.first; });
    if (after == rows_.begin() || std::prev(after)->first != target) return {};
    return std::prev(after)->second;
  }

 private:
  using Row = std::pair<Name, Fact>;
  std::vector<Row> rows_;
};

}  // namespace opseal
