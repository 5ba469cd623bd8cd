#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzers/native/byte_reader.h"
#include "analyzers/native/decompress.h"

namespace opseal {

// A machine code image after decompression, of which the middle may be missing: nearly all bytes of
// the largest images are instructions, of each of which one byte tells all that is asked.
struct ImageBytes {
  // All of the image by its addresses; from `gap` to `gap_end` there is nothing to be read.
  Bytes bytes;
  std::uint64_t gap = 0;
  std::uint64_t gap_end = 0;
  // One for each 16 bytes of the whole image, as `sass_effect` has them. Empty: there is no gap.
  std::vector<std::uint8_t> effects;

  // Whether a part of it can be read.
  bool holds(std::uint64_t offset, std::uint64_t size) const {
    return offset >= gap_end || size <= gap - std::min(gap, offset);
  }
};

// Decompresses the zstd frame in `stored` and keeps its first bytes and those from the table of
// sections on. False: the image is laid out otherwise, or the frame can't be read piece by piece;
// whoever wants it decompresses it whole. The bytes are valid up to the next call of
// `decompressor`.
bool decompress_partly(const Bytes& stored, std::uint64_t size, Decompressor& decompressor,
                       ImageBytes& image);

}  // namespace opseal
