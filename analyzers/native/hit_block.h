#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace opseal {

// Marks of 64 neighbouring places: not zero where something may begin or end. Whoever searches
// millions of bytes sets them in a loop without a branch, which compilers turn into wide
// comparisons, and looks closer at the few that are marked.
struct HitBlock {
  static constexpr std::size_t size = 64;
  unsigned char marks[size];

  // Calls `take` with the numbers of the marked ones, in ascending order.
  template <typename Take>
  void for_each(Take take) const {
    for (std::size_t at = 0; at < size; at += 8) {
      std::uint64_t word;
      std::memcpy(&word, marks + at, sizeof word);
      while (word != 0) {
        const auto byte = static_cast<std::size_t>(std::countr_zero(word)) / 8;
        take(at + byte);
        word &= ~(std::uint64_t{0xFF} << (8 * byte));
      }
    }
  }
};

}  // namespace opseal
