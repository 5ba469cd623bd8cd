#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// Tells whether a text holds one of many words. After the "Teddy" algorithm of Hyperscan: the first
// three bytes of 32 places at a time are looked up by halves of bytes, and only where these agree
// with a word of some bucket the words are compared. Where the processor has no AVX2, the same
// tables are asked a byte at a time.
class Needles {
 public:
  // Words of less than three bytes are left out. Of very many only the beginnings are looked for,
  // so that a text may be taken to hold one that it doesn't.
  explicit Needles(std::vector<std::string> words);

  bool occur_in(std::string_view text) const;
  // The same without the wide instructions.
  bool occur_in_slowly(std::string_view text) const;

 private:
  static constexpr std::size_t depth = 3;
  static constexpr std::size_t buckets = 8;

  bool occur_in_widely(std::string_view text) const;
  bool is_at(std::string_view text, std::size_t at, unsigned which) const;

  std::array<std::vector<std::string>, buckets> words_;
  // There are too many to look for: every text may hold one.
  bool always_ = false;
  // For each of the first bytes, the buckets that have a word with such a lower or upper half.
  alignas(16) std::array<std::array<std::uint8_t, 16>, depth> low_{};
  alignas(16) std::array<std::array<std::uint8_t, 16>, depth> high_{};
};

}  // namespace opseal
