#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace opseal {

// How a condition on `__CUDA_ARCH__` comes out in code for one architecture of CUDA.
enum class GuardTruth : std::uint8_t {
  no,
  yes,
  // It hangs on other macros.
  unknown,
  // It hangs on how the architecture compares with a number that isn't known.
  by_architecture,
};

// `architecture`: 900. Macros of AMD's compilers are not defined.
GuardTruth guard_truth(std::string_view guard, std::uint32_t architecture);

// Those that compilers from CUDA 12 on make code for, in order.
std::span<const std::uint32_t> known_architectures();

// Every architecture that compilers make code for passes it, as far as that is what it asks.
bool holds_on_all_architectures(std::string_view guard);

}  // namespace opseal
