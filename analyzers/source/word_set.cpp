#include "analyzers/source/word_set.h"

#include <array>

#include "analyzers/words.h"

namespace opseal {
namespace {

std::array<bool, 256> make_table() {
  std::array<bool, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = byte >= 0x80 || is_word_byte(static_cast<char>(byte));
  }
  return table;
}
const std::array<bool, 256> in_word = make_table();

}  // namespace

WordSet::WordSet(const std::vector<std::string>& words)
    : words_(words), filter_(filter_bits / 64), parts_(words) {
  constexpr std::size_t shortest = 3;
  for (const std::string& word : words_) {
    always_ = always_ || word.size() < shortest;
    known_.insert(word);
    const std::size_t mark = mark_of(word);
    filter_[mark / 64] |= std::uint64_t{1} << (mark % 64);
  }
}

std::size_t WordSet::mark_of(std::string_view word) {
  const auto at = [word](std::size_t index) {
    return static_cast<std::size_t>(static_cast<unsigned char>(word[index]));
  };
  const std::size_t size = word.size();
  if (size == 0) return 0;
  const std::size_t mixed = at(0) * 0x9e3779b1 + at(size / 2) * 0x85ebca77 +
                            at(size - 1) * 0xc2b2ae3d + size * 0x27d4eb2f + at(size / 3) * 31;
  return (mixed >> 7) % filter_bits;
}

bool WordSet::next(std::string_view text, std::size_t& begin, std::size_t& end) const {
  std::size_t at = begin;
  while (at < text.size()) {
    if (!in_word[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    begin = at;
    while (at < text.size() && in_word[static_cast<unsigned char>(text[at])]) ++at;
    const std::string_view word = text.substr(begin, at - begin);
    const std::size_t mark = mark_of(word);
    if ((filter_[mark / 64] >> (mark % 64) & 1) == 0 || !known_.contains(word)) continue;
    end = at;
    return true;
  }
  return false;
}

bool WordSet::occurs_in(std::string_view text) const {
  if (always_) return true;
  std::size_t begin = 0;
  std::size_t end = 0;
  return parts_.occur_in(text) && next(text, begin, end);
}

}  // namespace opseal
