#pragma once

#include <cstdint>
#include <limits>

namespace opseal {

// A place in an input. Line and column are not stored: a report works them out from the offset when
// it needs them, so that a place stays 16 bytes however many facts there are.
struct Location {
  // Index into `Facts::files`.
  std::uint32_t file = nowhere;
  // Bytes; 0 means the whole file.
  std::uint32_t length = 0;
  // Bytes from the start of the file.
  std::uint64_t offset = 0;

  static constexpr std::uint32_t max_length = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

  bool known() const { return file != nowhere; }
  friend bool operator==(const Location&, const Location&) = default;
};

static_assert(sizeof(Location) == 16);

// A value, the place that states it, and whether anyone did. "Nobody said" is not "absent": a value
// that was said to be absent is a value of T.
template <typename T>
struct Stated {
  T value{};
  Location where;
  bool said = false;

  explicit operator bool() const { return said; }
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};

}  // namespace opseal
