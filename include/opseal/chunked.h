#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace opseal {

// A growing array that never moves its elements. A doubling vector holds old and new at once while
// it grows, which on a million registrations costs more memory than the facts themselves.
template <typename T, std::size_t chunk_bits = 12>
class Chunked {
 public:
  static constexpr std::size_t chunk_size = std::size_t{1} << chunk_bits;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  T& operator[](std::size_t index) {
    return (*chunks_[index >> chunk_bits])[index & (chunk_size - 1)];
  }
  const T& operator[](std::size_t index) const {
    return (*chunks_[index >> chunk_bits])[index & (chunk_size - 1)];
  }

  void push_back(const T& value) {
    const std::size_t chunk = size_ >> chunk_bits;
    if (chunk == chunks_.size()) chunks_.push_back(std::make_unique<Chunk>());
    (*chunks_[chunk])[size_ & (chunk_size - 1)] = value;
    ++size_;
  }

  // Needs: new_size <= size().
  void shrink_to(std::size_t new_size) { size_ = new_size; }

 private:
  using Chunk = std::array<T, chunk_size>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace opseal
