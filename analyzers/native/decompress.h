#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "analyzers/native/byte_reader.h"

struct ZSTD_DCtx_s;

namespace opseal {

// Decompresses one image after the other into the same memory: most of the time that reading a
// library takes is spent here, and new pages for each image would add to it.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // What `stored` holds, valid up to the next call, as bytes with offset 0. `size`: how many bytes
  // shall come out; as many are reserved, so that the caller bounds it. Throws InputError with the
  // place of `stored`.
  Bytes zstd(const Bytes& stored, std::uint64_t size);
  // A block without a frame.
  Bytes lz4(const Bytes& stored, std::uint64_t size);
  // What comes out of the beginning of a zstd frame, at most `size` bytes.
  Bytes zstd_head(const Bytes& stored, std::uint64_t size);

  static constexpr std::size_t piece_size = std::size_t{128} << 10;
  // All that comes out, piece by piece: each of `piece_size` bytes but the last, and valid for that
  // call of `take`, which ends the matter with false. False, too, where something else than `size`
  // bytes comes out, or more than 8 MiB would have to be kept between pieces.
  bool zstd_pieces(const Bytes& stored, std::uint64_t size,
                   const std::function<bool(std::string_view piece)>& take);
  // Memory of at least `size` bytes, of which the machine gives those that are written; valid up to
  // the next call of any of these but `zstd_pieces`.
  char* room(std::uint64_t size);

 private:
  ZSTD_DCtx_s* context_;
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> memory_;
  std::uint64_t capacity_ = 0;
  std::vector<char> piece_;
};

// Bytes of the zstd frame that `stored` begins with. Throws InputError where it begins with none.
std::uint64_t zstd_frame_size(const Bytes& stored);

}  // namespace opseal
