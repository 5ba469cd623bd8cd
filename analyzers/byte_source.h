#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace opseal {

// Bytes in order, from a file or from memory. A file is read, never mapped: one that another
// process cuts short while opseal reads it must not end in a bus error.
class ByteSource {
 public:
  // Opens a file; `error()` is not empty when that failed.
  static ByteSource file(const std::string& path);
  // Needs: the bytes outlive the source.
  static ByteSource memory(std::string_view bytes);

  ByteSource(ByteSource&& other) noexcept;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ~ByteSource();

  // Up to `size` bytes; 0 at the end or on an error, which `error()` then tells.
  std::size_t read(char* to, std::size_t size);
  // Goes on reading at a byte from the start, or at the end where there are not so many. False when
  // that failed.
  bool move_to(std::uint64_t offset);
  // Bytes from the start.
  std::uint64_t position() const { return position_; }
  // Bytes of the whole; 0 where it can't be told.
  std::uint64_t size() const { return size_; }
  const std::string& error() const { return error_; }

 private:
  ByteSource() = default;

  int descriptor_ = -1;
  std::string_view bytes_;
  std::uint64_t position_ = 0;
  std::uint64_t size_ = 0;
  std::string error_;
};

// The whole of a file descriptor that can't be read twice, such as standard input.
std::string read_all(int descriptor);

}  // namespace opseal
