#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace opseal {

// Why nothing was read with types, of all trees of a run.
class TypedOutcome {
 public:
  void skipped(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (reason_.empty()) reason_ = reason;
  }
  const std::string& reason() const { return reason_; }

 private:
  std::mutex mutex_;
  std::string reason_;
};

// The typed tier of reading sources: libclang is asked for what text alone doesn't say.
struct TypedOptions {
  bool wanted = false;
  // The program to be started as a child, see `run_typed_child`.
  std::string program;
  // Of processor time, for a file that is parsed without headers. What was measured takes 0.04 s.
  std::uint32_t seconds = 10;
  // Where precompiled headers are kept; empty: nowhere.
  std::string cache;
  // May be null.
  TypedOutcome* outcome = nullptr;
};

}  // namespace opseal
