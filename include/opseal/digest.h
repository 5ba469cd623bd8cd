#pragma once

// The only header that knows xxHash.

// The state's size is only told to those who promise to recompile with each version.
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace opseal {

inline std::uint64_t hash_text(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

// A 128-bit digest over tagged fields. Each field is its tag, a zero, its length and its bytes, so
// that neighbours can't run into each other and a field that is left out can't look like one that
// is empty.
class Digest {
 public:
  Digest() { XXH3_128bits_reset(&state_); }

  Digest& add(std::string_view tag, std::string_view bytes) {
    const std::uint64_t length = bytes.size();
    unsigned char encoded[9] = {};
    for (int i = 0; i < 8; ++i) encoded[i + 1] = static_cast<unsigned char>(length >> (8 * i));
    XXH3_128bits_update(&state_, tag.data(), tag.size());
    XXH3_128bits_update(&state_, encoded, sizeof encoded);
    XXH3_128bits_update(&state_, bytes.data(), bytes.size());
    return *this;
  }

  // 32 lower-case hexadecimal digits, high half first, as `xxhsum -H2` prints them.
  std::string hex() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    std::string out;
    for (const std::uint64_t half : {hash.high64, hash.low64}) {
      for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(half >> shift) & 15];
    }
    return out;
  }

 protected:
  void add_bytes(std::string_view bytes) {
    XXH3_128bits_update(&state_, bytes.data(), bytes.size());
  }

 private:
  XXH3_state_t state_;
};

// The plain 128-bit digest of bytes, as `xxhsum -H2` makes it.
class ContentDigest : private Digest {
 public:
  void add(std::string_view bytes) { add_bytes(bytes); }
  using Digest::hex;
};

}  // namespace opseal
