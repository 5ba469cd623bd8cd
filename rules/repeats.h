#pragma once

#include <cstdint>
#include <vector>

namespace opseal {

// Indices, ascending, of the hashes that occur more than once. What is registered once, which is
// nearly everything, is passed over without being sorted.
std::vector<std::uint32_t> repeated(const std::vector<std::uint64_t>& hashes);

}  // namespace opseal
