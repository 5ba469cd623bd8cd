#pragma once

#include <map>
#include <string>
#include <string_view>

#include "opseal/facts.h"

namespace opseal {

// Kinds by how they are spelled without what all of them begin with: `q4_0` and `Q4-0` are
// `TYPE_Q4_0`.
class SpelledKinds {
 public:
  explicit SpelledKinds(const Fact& kinds);

  // Empty where none or several are spelled so, or where it is a word of languages for a type:
  // what `float` stands for differs from one to the next.
  std::string_view of(std::string_view text) const;

  // One is the other with more said: `E4M3` and `E4M3FN`.
  static bool is_kind_of(std::string_view one, std::string_view other);

 private:
  std::map<std::string, std::string_view> kinds_;
};

}  // namespace opseal
