#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace opseal {

// Calls `work(0)` to `work(count - 1)`, each once, on up to `threads` threads. What a call throws
// is thrown again here once all threads have ended; after the first throw no new call begins.
template <typename Work>
void side_by_side(unsigned threads, std::size_t count, Work work) {
  std::atomic<std::size_t> next{0};
  std::mutex guard;
  std::exception_ptr failure;
  const auto take_turns = [&] {
    try {
      for (std::size_t at = next++; at < count; at = next++) work(at);
    } catch (...) {
      // Not swallowed: handed to the caller's thread, which has nobody else to hear of it.
      const std::lock_guard<std::mutex> lock(guard);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min<std::size_t>(threads, count);
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(take_turns);
    take_turns();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace opseal
