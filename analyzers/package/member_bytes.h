#pragma once

#include <cstddef>
#include <string_view>

namespace opseal {

// Bytes that grow without being copied and without taking memory before they are written, so that
// a member of a gigabyte takes a gigabyte while it is read. To be used for one member after the
// other: what it took it keeps.
class MemberBytes {
 public:
  MemberBytes() = default;
  MemberBytes(const MemberBytes&) = delete;
  MemberBytes& operator=(const MemberBytes&) = delete;
  ~MemberBytes();

  std::string_view view() const { return {bytes_, size_}; }
  void clear() { size_ = 0; }
  // Room for `size` more bytes behind the last; throws InputError where there is no memory.
  char* room(std::size_t size);
  // Needs: so many were written to `room`.
  void grow(std::size_t size) { size_ += size; }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace opseal
