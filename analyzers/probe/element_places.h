#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opseal::ffi {

// Where the elements of an operand lie in its buffer, which holds all of them and nothing before
// the first or behind the last.
class ElementPlaces {
 public:
  // `strides`: in elements, one for each extent, below 0 where an axis runs backwards; empty: side
  // by side, the last axis fastest. Throws std::invalid_argument where a buffer of more than
  // `most_elements` were needed.
  ElementPlaces(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides);

  static constexpr std::uint64_t most_elements = std::uint64_t{1} << 30;

  // Elements that there are.
  std::size_t count() const { return count_; }
  // Elements that the buffer has room for.
  std::size_t room() const { return room_; }
  // Place of the element whose indexes are all 0: what a kernel is handed a pointer to.
  std::size_t origin() const { return origin_; }
  // Element by element in the order of their indexes, the last axis fastest. Empty: each element
  // lies at its own number.
  const std::vector<std::size_t>& places() const { return places_; }
  std::size_t place(std::size_t element) const {
    return places_.empty() ? element : places_[element];
  }

 private:
  std::size_t count_ = 0;
  std::size_t room_ = 0;
  std::size_t origin_ = 0;
  std::vector<std::size_t> places_;
};

// Of elements side by side, the last axis fastest. Never 0, as in frameworks: not even where there
// are none.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents);

}  // namespace opseal::ffi
