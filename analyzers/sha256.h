#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace opseal {

// SHA-256 (FIPS 180-4), since manifests may carry digests that other tools made.
class Sha256 {
 public:
  void add(std::string_view bytes);
  // 64 lower-case hexadecimal digits. Ends the digest: nothing may be added after it.
  std::string hex();

 private:
  void take_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::size_t filled_ = 0;
  // Bytes.
  std::uint64_t length_ = 0;
};

}  // namespace opseal
