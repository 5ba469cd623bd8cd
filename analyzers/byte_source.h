#pragma once

#include <cstddef>
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
  const std::string& error() const { return error_; }

 private:
  ByteSource() = default;

  int descriptor_ = -1;
  std::string_view left_;
  std::string error_;
};

// The whole of a file descriptor that can't be read twice, such as standard input.
std::string read_all(int descriptor);

}  // namespace opseal
