#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "analyzers/source/needles.h"

namespace opseal {

// Tells whether a text has one of many words as a whole word: `add` isn't in `add_cpu`. Bytes
// beyond ASCII are parts of words, as Python and C++ have it.
class WordSet {
 public:
  // Words of less than three bytes are taken to be in every text.
  explicit WordSet(const std::vector<std::string>& words);
  WordSet(const WordSet&) = delete;
  WordSet& operator=(const WordSet&) = delete;

  bool occurs_in(std::string_view text) const;
  // Calls `visit(begin, end, word)` for each place of one, in their order; short ones too.
  template <typename Visit>
  void for_each(std::string_view text, const Visit& visit) const {
    if (!always_ && !parts_.occur_in(text)) return;
    std::size_t begin = 0;
    std::size_t end = 0;
    while (next(text, begin, end)) {
      visit(begin, end, text.substr(begin, end - begin));
      begin = end;
    }
  }

 private:
  // What words have in common tells most others apart without a look into the set.
  static constexpr std::size_t filter_bits = 1 << 16;
  static std::size_t mark_of(std::string_view word);
  // The first at or behind `begin`, which stands at the start of a word or between words.
  bool next(std::string_view text, std::size_t& begin, std::size_t& end) const;

  std::vector<std::string> words_;
  // Of them.
  std::unordered_set<std::string_view> known_;
  std::vector<std::uint64_t> filter_;
  Needles parts_;
  bool always_ = false;
};

}  // namespace opseal
