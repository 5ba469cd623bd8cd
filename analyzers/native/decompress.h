#pragma once

#include <cstdint>
#include <memory>

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

 private:
  char* room(std::uint64_t size);

  ZSTD_DCtx_s* context_;
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> memory_;
  std::uint64_t capacity_ = 0;
};

}  // namespace opseal
