#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "analyzers/input_error.h"

namespace opseal {

static_assert(std::endian::native == std::endian::little,
              "numbers of the files read here are little-endian, and are copied as they stand");

// A stretch of a file: every read is held against its end, so that a damaged number ends as an
// InputError with its place and never as a read outside the bytes. Doesn't own what it shows.
class Bytes {
 public:
  Bytes() = default;
  // `offset`: where the stretch begins in its file, in bytes; only messages use it.
  explicit Bytes(std::string_view bytes, std::uint64_t offset = 0)
      : bytes_(bytes), offset_(offset) {}

  std::uint64_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  std::uint64_t offset() const { return offset_; }
  std::string_view view() const { return bytes_; }
  const char* data() const { return bytes_.data(); }

  // Neither `at` nor `length` is trusted, nor is their sum.
  bool holds(std::uint64_t at, std::uint64_t length) const {
    return at <= size() && length <= size() - at;
  }

  // Throws InputError.
  template <typename Number>
  Number read(std::uint64_t at) const {
    static_assert(std::is_trivially_copyable_v<Number>);
    if (!holds(at, sizeof(Number))) outside(at, sizeof(Number), "a number");
    Number number;
    std::memcpy(&number, bytes_.data() + at, sizeof number);
    return number;
  }
  std::uint8_t u8(std::uint64_t at) const { return read<std::uint8_t>(at); }
  std::uint16_t u16(std::uint64_t at) const { return read<std::uint16_t>(at); }
  std::uint32_t u32(std::uint64_t at) const { return read<std::uint32_t>(at); }
  std::uint64_t u64(std::uint64_t at) const { return read<std::uint64_t>(at); }
  std::int32_t i32(std::uint64_t at) const { return read<std::int32_t>(at); }
  std::int64_t i64(std::uint64_t at) const { return read<std::int64_t>(at); }

  // Throws InputError that names `what` where the stretch is not all there.
  Bytes part(std::uint64_t at, std::uint64_t length, const char* what) const {
    if (!holds(at, length)) outside(at, length, what);
    return Bytes(bytes_.substr(at, length), offset_ + at);
  }
  // Up to the end.
  Bytes from(std::uint64_t at, const char* what) const {
    if (at > size()) outside(at, 0, what);
    return part(at, size() - at, what);
  }

  // The text up to the next zero byte, which must be there. Throws InputError.
  std::string_view text(std::uint64_t at) const {
    if (at >= size()) outside(at, 1, "a text");
    const void* end = std::memchr(bytes_.data() + at, 0, size() - at);
    if (end == nullptr) outside(at, size() - at + 1, "a text");
    return bytes_.substr(at, static_cast<std::size_t>(static_cast<const char*>(end) - data()) - at);
  }

 private:
  [[noreturn]] void outside(std::uint64_t at, std::uint64_t length, const char* what) const {
    throw InputError(offset_ + (at < size() ? at : size()), 0,
                     std::string(what) + " of " + std::to_string(length) + " bytes at " +
                         std::to_string(offset_ + at) + " goes beyond the end, which is at " +
                         std::to_string(offset_ + size()));
  }

  std::string_view bytes_;
  std::uint64_t offset_ = 0;
};

}  // namespace opseal
