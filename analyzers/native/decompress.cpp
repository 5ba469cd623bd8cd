#include "analyzers/native/decompress.h"

#include <lz4.h>
#include <sys/mman.h>
#include <zstd.h>

#include <climits>
#include <cstdlib>
#include <new>
#include <string>

namespace opseal {
namespace {

[[noreturn]] void refuse(const Bytes& stored, const std::string& message) {
  throw InputError(stored.offset(), stored.size(), message);
}

[[noreturn]] void refuse_size(const Bytes& stored, std::uint64_t size, std::uint64_t expected) {
  refuse(stored, "a compressed image holds " + std::to_string(size) + " bytes, " +
                     std::to_string(expected) + " are stated");
}

}  // namespace

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}

Decompressor::~Decompressor() { ZSTD_freeDCtx(context_); }

void Decompressor::Free::operator()(char* memory) const { std::free(memory); }

Bytes Decompressor::zstd(const Bytes& stored, std::uint64_t size) {
  char* to = room(size);
  const std::size_t got = ZSTD_decompressDCtx(context_, to, size, stored.data(), stored.size());
  if (ZSTD_isError(got) != 0) {
    refuse(stored, "zstd can't decompress an image: " + std::string(ZSTD_getErrorName(got)));
  }
  if (got != size) refuse_size(stored, got, size);
  return Bytes(std::string_view(to, size));
}

Bytes Decompressor::lz4(const Bytes& stored, std::uint64_t size) {
  if (stored.size() > INT_MAX || size > INT_MAX) {
    refuse(stored, "an LZ4 image of more bytes than an LZ4 block can have");
  }
  char* to = room(size);
  const int got = LZ4_decompress_safe(stored.data(), to, static_cast<int>(stored.size()),
                                      static_cast<int>(size));
  if (got < 0) refuse(stored, "LZ4 can't decompress an image");
  if (static_cast<std::uint64_t>(got) != size) {
    refuse_size(stored, static_cast<std::uint64_t>(got), size);
  }
  return Bytes(std::string_view(to, size));
}

Bytes Decompressor::zstd_head(const Bytes& stored, std::uint64_t size) {
  ZSTD_inBuffer in = {stored.data(), stored.size(), 0};
  ZSTD_outBuffer out = {room(size), size, 0};
  ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
  while (out.pos < out.size) {
    const std::size_t before = in.pos + out.pos;
    const std::size_t left = ZSTD_decompressStream(context_, &out, &in);
    if (ZSTD_isError(left) != 0) {
      refuse(stored,
             "zstd can't decompress the beginning: " + std::string(ZSTD_getErrorName(left)));
    }
    if (left == 0 || in.pos + out.pos == before) break;
  }
  return Bytes(std::string_view(static_cast<char*>(out.dst), out.pos));
}

bool Decompressor::zstd_pieces(const Bytes& stored, std::uint64_t size,
                               const std::function<bool(std::string_view piece)>& take) {
  constexpr int most_window_bits = 23;
  ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
  ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, most_window_bits);
  piece_.resize(piece_size);
  ZSTD_inBuffer in = {stored.data(), stored.size(), 0};
  std::uint64_t got = 0;
  for (bool ended = false; !ended;) {
    ZSTD_outBuffer out = {piece_.data(), piece_.size(), 0};
    while (out.pos < out.size && !ended) {
      const std::size_t before = in.pos + out.pos;
      const std::size_t left = ZSTD_decompressStream(context_, &out, &in);
      if (ZSTD_isError(left) != 0) return false;
      ended = left == 0;
      if (!ended && in.pos + out.pos == before) return false;
    }
    if (out.pos > size - got) return false;
    got += out.pos;
    if (out.pos > 0 && !take(std::string_view(piece_.data(), out.pos))) return false;
  }
  return got == size && in.pos == in.size;
}

char* Decompressor::room(std::uint64_t size) {
  if (size <= capacity_) return memory_.get();
  constexpr std::uint64_t large_page = std::uint64_t{1} << 21;
  const std::uint64_t rounded = (size + large_page - 1) / large_page * large_page;
  memory_.reset();
  capacity_ = 0;
  memory_.reset(static_cast<char*>(std::aligned_alloc(large_page, rounded)));
  if (memory_ == nullptr) throw std::bad_alloc();
  // Fewer page faults and misses of the address cache; where it is refused, nothing is lost.
  ::madvise(memory_.get(), rounded, MADV_HUGEPAGE);
  capacity_ = rounded;
  return memory_.get();
}

std::uint64_t zstd_frame_size(const Bytes& stored) {
  const std::size_t size = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
  if (ZSTD_isError(size) != 0) {
    refuse(stored, "no zstd frame: " + std::string(ZSTD_getErrorName(size)));
  }
  return size;
}

}  // namespace opseal
