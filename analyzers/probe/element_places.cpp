#include "analyzers/probe/element_places.h"

#include <algorithm>
#include <stdexcept>

namespace opseal::ffi {

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t axis = extents.size(); axis > 1; --axis) {
    strides[axis - 2] = strides[axis - 1] * std::max<std::int64_t>(extents[axis - 1], 1);
  }
  return strides;
}

ElementPlaces::ElementPlaces(const std::vector<std::int64_t>& extents,
                             const std::vector<std::int64_t>& strides) {
  std::uint64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || static_cast<std::uint64_t>(extent) > most_elements) {
      throw std::invalid_argument("a buffer of such an extent is not made");
    }
    count *= static_cast<std::uint64_t>(extent);
    if (count > most_elements) throw std::invalid_argument("a buffer of this size is not made");
  }
  count_ = static_cast<std::size_t>(count);
  room_ = count_;
  if (strides.empty() || count_ == 0) return;
  if (strides.size() != extents.size()) {
    throw std::invalid_argument("there are not as many strides as extents");
  }
  std::uint64_t last = 0;
  std::uint64_t origin = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const auto steps = static_cast<std::uint64_t>(extents[axis] - 1);
    const std::int64_t stride = strides[axis];
    const auto size = static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
    if (size > most_elements) throw std::invalid_argument("a buffer of this size is not made");
    last += steps * size;
    if (stride < 0) origin += steps * size;
    if (last >= most_elements) throw std::invalid_argument("a buffer of this size is not made");
  }
  room_ = static_cast<std::size_t>(last) + 1;
  origin_ = static_cast<std::size_t>(origin);
  places_.reserve(count_);
  std::vector<std::int64_t> indexes(extents.size(), 0);
  auto place = static_cast<std::int64_t>(origin);
  for (std::size_t element = 0; element < count_; ++element) {
    places_.push_back(static_cast<std::size_t>(place));
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      place += strides[axis];
      if (++indexes[axis] < extents[axis]) break;
      place -= strides[axis] * extents[axis];
      indexes[axis] = 0;
    }
  }
}

}  // namespace opseal::ffi
