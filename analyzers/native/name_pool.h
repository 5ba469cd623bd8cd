#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace opseal {

// Texts that outlive the memory in which they were read, each once: the images of a library hold
// the same kernels for one architecture after the other.
class NamePool {
 public:
  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    const auto known = texts_.find(text);
    if (known != texts_.end()) return *known;
    if (text.size() > room_) {
      room_ = std::max(block_size, text.size());
      // `new` without a value: nothing is filled with zeros.
      blocks_.emplace_back(new char[room_]);
      next_ = blocks_.back().get();
    }
    const std::string_view kept(next_, text.size());
    std::memcpy(next_, text.data(), text.size());
    next_ += text.size();
    room_ -= text.size();
    texts_.insert(kept);
    return kept;
  }
  // The memory, for whoever keeps the texts longer than this pool.
  std::vector<std::unique_ptr<char[]>> release() {
    texts_.clear();
    room_ = 0;
    return std::exchange(blocks_, {});
  }

 private:
  static constexpr std::size_t block_size = std::size_t{1} << 16;

  std::unordered_set<std::string_view> texts_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace opseal
