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
  // Minor version of the headers that the handler was built with; negative: unknown. `earlier`:
  // where state lies that an earlier stage kept, for all calls; null: nowhere. Outlives this one.
  explicit Context(int minor, const Context* earlier = nullptr)
      : minor_(minor), earlier_(earlier) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  // Waits for the threads that the handler started.
  ~Context();

  int minor() const { return minor_; }
  // All of these from any thread.
  void keep_state(int stage, void* state);
  // Null: nothing was kept.
  void* state(int stage) const;
  // False: there are enough threads, and the caller has to do it itself.
  bool start(void (*task)(void*), void* data);
  // It asked for something that there is none of.
  void lack(const char* what);
  // The last of these; empty: nothing.
  std::string lacked() const;

 private:
  int minor_;
  const Context* earlier_;
  std::map<int, void*> states_;
  std::vector<std::thread> threads_;
  std::string lacked_;
  mutable std::mutex mutex_;
};

// The functions that handlers of every header version since jaxlib 0.4.32 may call.
const Api& api();

// Waits for an asynchronous result and takes it apart. Null: it succeeded.
Error* wait_for(Future* future);

}  // namespace opseal::ffi
