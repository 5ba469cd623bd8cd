#pragma once

#include <cstddef>
#include <string_view>

#include "opseal/text.h"

namespace opseal {

// Reads a condition from its start, word by word and sign by sign; blanks before them are passed.
class ConditionWords {
 protected:
  explicit ConditionWords(std::string_view condition) : rest_(condition) {}

  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }
  bool take(std::string_view sign) {
    skip();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }
  // Empty where something else than a word comes next.
  std::string_view word() {
    skip();
    std::size_t length = 0;
    while (length < rest_.size() && is_word_byte(rest_[length])) ++length;
    const std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return found;
  }

  std::string_view rest_;
};

}  // namespace opseal
