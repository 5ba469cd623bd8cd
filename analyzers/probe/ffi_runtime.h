#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analyzers/probe/ffi_abi.h"

namespace opseal::ffi {

// What a handler's call came to.
struct Error {
  std::int32_t code = unknown;
  std::string message;
};

// The caller's side of one call: what a handler reaches through the interface's functions, and what
// it left behind. Not XLA: it runs no device, keeps state between stages, and refuses what it lacks
// with a reason.
class Context {
 public:
  // Minor version of the headers that the handler was built with; negative: unknown.
  explicit Context(int minor) : minor_(minor) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  // Waits for the threads that the handler started.
  ~Context();

  int minor() const { return minor_; }
  void keep_state(int stage, void* state);
  // Null: nothing was kept.
  void* state(int stage) const;
  void start(void (*task)(void*), void* data);

  // Scratch memory that was asked for and given back, in bytes.
  std::size_t allocated = 0;
  std::size_t freed = 0;
  // What it asked for and there is none of; empty: nothing.
  std::string lacked;

 private:
  int minor_;
  std::map<int, void*> states_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
};

// The functions that handlers of every header version since jaxlib 0.4.32 may call.
const Api& api();

// Waits for an asynchronous result and takes it apart. Null: it succeeded.
Error* wait_for(Future* future);

}  // namespace opseal::ffi
