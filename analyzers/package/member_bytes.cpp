#include "analyzers/package/member_bytes.h"

#include <sys/mman.h>

#include <algorithm>

#include "analyzers/input_error.h"
#include "opseal/text.h"

namespace opseal {

MemberBytes::~MemberBytes() {
  if (bytes_ != nullptr) ::munmap(bytes_, capacity_);
}

char* MemberBytes::room(std::size_t size) {
  constexpr std::size_t least = std::size_t{1} << 20;
  if (capacity_ - size_ >= size) return bytes_ + size_;
  // Pages that were never written take no memory, so that doubling wastes none.
  const std::size_t wanted = std::max({least, capacity_ * 2, size_ + size});
  void* moved = bytes_ == nullptr ? ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                  : ::mremap(bytes_, capacity_, wanted, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED)
    throw InputError(0, 0, "no memory for a member of " + plural(size_ + size, "byte"));
  bytes_ = static_cast<char*>(moved);
  capacity_ = wanted;
  return bytes_ + size_;
}

}  // namespace opseal
