#include "rules/repeats.h"

#include <bit>

namespace opseal {

std::vector<std::uint32_t> repeated(const std::vector<std::uint64_t>& hashes) {
  constexpr std::uint32_t empty = 0xffffffff;
  std::vector<std::uint32_t> slots(std::bit_ceil(hashes.size() * 2 + 2), empty);
  std::vector<bool> again(hashes.size());
  const std::size_t mask = slots.size() - 1;
  for (std::uint32_t i = 0; i < hashes.size(); ++i) {
    std::size_t slot = (hashes[i] * 0x9e3779b97f4a7c15 >> 20) & mask;
    while (slots[slot] != empty && hashes[slots[slot]] != hashes[i]) slot = (slot + 1) & mask;
    if (slots[slot] == empty) {
      slots[slot] = i;
    } else {
      again[i] = again[slots[slot]] = true;
    }
  }
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < hashes.size(); ++i) {
    if (again[i]) indices.push_back(i);
  }
  return indices;
}

}  // namespace opseal
