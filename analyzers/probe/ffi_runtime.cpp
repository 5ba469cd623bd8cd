// Slots of the interface's table
// -------------------------------
// Each takes one pointer to a struct of arguments whose first word is its size, and whose fields
// were only ever added to. Two places changed without a change of the version that a handler
// reports: `ThreadPool_NumThreads` was put before the three functions of futures (jaxlib 0.4.38),
// so that slots 12 to 14 mean one thing or the other; the size of the arguments tells which. And
// `State_Set` lost its deleter (API 0.2), then gained a stage (0.3): 48 bytes are the first or the
// third form, which the version tells.

#include "analyzers/probe/ffi_runtime.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace opseal::ffi {

struct Future {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  Error* error = nullptr;
};

namespace {

// A field of the arguments, by offset.
template <typename T>
T& field(void* arguments, std::size_t offset) {
  return *reinterpret_cast<T*>(static_cast<char*>(arguments) + offset);
}

std::size_t size_of(void* arguments) { return field<std::size_t>(arguments, 0); }
Context& context_of(void* arguments) { return *field<Context*>(arguments, 16); }

// Errors belong to who called the handler, which is us: they are never freed while a child lives.
Error* make_error(std::int32_t code, std::string message) {
  return new Error{code, std::move(message)};
}

void* error_create(void* arguments) {
  const char* message = field<const char*>(arguments, 16);
  return make_error(field<std::int32_t>(arguments, 24), message == nullptr ? "" : message);
}

void* error_details(void* arguments) {
  Error* error = field<Error*>(arguments, 16);
  field<const char*>(arguments, 24) = error == nullptr ? "" : error->message.c_str();
  // Callers up to API 0.3 have no room for the code.
  if (size_of(arguments) >= 36) {
    field<std::int32_t>(arguments, 32) = error == nullptr ? std::int32_t{ok} : error->code;
  }
  return nullptr;
}

void* error_destroy(void* arguments) {
  delete field<Error*>(arguments, 16);
  return nullptr;
}

void* handler_register(void*) { return nullptr; }

void* stream_get(void* arguments) {
  context_of(arguments).lack("a stream of a device");
  return make_error(unimplemented, "opseal's probe has no stream");
}

// A type of a library that nobody registered has no number yet, and handlers look for one.
void give_number(std::int64_t* type) {
  static std::mutex mutex;
  static std::int64_t next = 1;
  const std::lock_guard lock(mutex);
  if (type != nullptr && *type == 0) *type = next++;
}

void* type_register(void* arguments) {
  give_number(field<std::int64_t*>(arguments, 32));
  return nullptr;
}

void* context_get(void* arguments) {
  context_of(arguments).lack("user data of a running framework");
  return make_error(not_found, "opseal's probe has no user data");
}

struct StatePlaces {
  int stage = 0;
  std::size_t type = 0;
  std::size_t state = 0;
};

StatePlaces state_places(void* arguments) {
  if (context_of(arguments).minor() >= 3) return {field<std::int32_t>(arguments, 24), 32, 40};
  return {0, 24, 32};
}

void* state_set(void* arguments) {
  const StatePlaces places = state_places(arguments);
  give_number(field<std::int64_t*>(arguments, places.type));
  context_of(arguments).keep_state(places.stage, field<void*>(arguments, places.state));
  return nullptr;
}

void* state_get(void* arguments) {
  const StatePlaces places = state_places(arguments);
  void* state = context_of(arguments).state(places.stage);
  if (state == nullptr) {
    context_of(arguments).lack("the state that a stage before it keeps");
    return make_error(not_found, "no stage before this one kept any state");
  }
  field<void*>(arguments, places.state) = state;
  return nullptr;
}

void* memory_allocate(void* arguments) {
  const std::size_t size = field<std::size_t>(arguments, 24);
  const std::size_t alignment = std::max<std::size_t>(field<std::size_t>(arguments, 32), 64);
  void* memory = nullptr;
  if (::posix_memalign(&memory, alignment, std::max<std::size_t>(size, 1)) != 0) {
    return make_error(resource_exhausted, "no memory for the handler's scratch buffer");
  }
  field<void*>(arguments, 40) = memory;
  return nullptr;
}

void* memory_free(void* arguments) {
  std::free(field<void*>(arguments, 32));
  return nullptr;
}

void* thread_pool_schedule(void* arguments) {
  // Of an error the header makes a call on the thread that asked.
  const bool started = context_of(arguments).start(field<void (*)(void*)>(arguments, 24),
                                                   field<void*>(arguments, 32));
  return started ? nullptr : make_error(resource_exhausted, "enough threads");
}

void* thread_pool_count(void* arguments) {
  *field<std::int64_t*>(arguments, 24) = 2;
  return nullptr;
}

void* future_create(void* arguments) {
  field<Future*>(arguments, 16) = new Future;
  return nullptr;
}

void end(Future* future, Error* error) {
  const std::lock_guard lock(future->mutex);
  future->done = true;
  future->error = error;
  future->changed.notify_all();
}

void* future_set_available(void* arguments) {
  end(field<Future*>(arguments, 16), nullptr);
  return nullptr;
}

void* future_set_error(void* arguments) {
  end(field<Future*>(arguments, 16), field<Error*>(arguments, 24));
  return nullptr;
}

void* run_id_get(void* arguments) {
  field<std::int64_t>(arguments, 24) = 1;
  return nullptr;
}

void* device_ordinal_get(void* arguments) {
  field<std::int32_t>(arguments, 24) = 0;
  return nullptr;
}

void* find_extension(void* arguments) {
  field<void*>(arguments, 32) = nullptr;
  return nullptr;
}

void* nothing(void*) {
  return make_error(unimplemented, "opseal's probe doesn't know this function of XLA's FFI");
}

// See above.
void* slot_12(void* arguments) {
  return size_of(arguments) == 16 ? future_create(arguments) : thread_pool_count(arguments);
}
void* slot_13(void* arguments) {
  return size_of(arguments) == 24 ? future_set_available(arguments) : future_create(arguments);
}
void* slot_14(void* arguments) {
  return size_of(arguments) == 32 ? future_set_error(arguments) : future_set_available(arguments);
}

Api make_api() {
  constexpr Slot known[] = {
      error_create,     error_details, error_destroy,
      handler_register, stream_get,    type_register,
      context_get,      state_set,     state_get,
      memory_allocate,  memory_free,   thread_pool_schedule,
      slot_12,          slot_13,       slot_14,
      future_set_error, run_id_get,    device_ordinal_get,
      find_extension,
  };
  Api api{};
  api.size = api_size;
  // Handlers of older headers ask for no more than their own version.
  api.version = {version_size, nullptr, 0, 4};
  std::fill(std::begin(api.slots), std::end(api.slots), nothing);
  std::copy(std::begin(known), std::end(known), std::begin(api.slots));
  return api;
}

}  // namespace

// A thread may start others while it is waited for.
Context::~Context() {
  for (std::size_t at = 0;; ++at) {
    std::thread thread;
    {
      const std::lock_guard lock(mutex_);
      if (at == threads_.size()) return;
      thread = std::move(threads_[at]);
    }
    thread.join();
  }
}

void Context::keep_state(int stage, void* state) {
  const std::lock_guard lock(mutex_);
  states_[stage] = state;
}

void* Context::state(int stage) const {
  const std::lock_guard lock(mutex_);
  const auto found = states_.find(stage);
  if (found != states_.end()) return found->second;
  return earlier_ == nullptr ? nullptr : earlier_->state(stage);
}

bool Context::start(void (*task)(void*), void* data) {
  constexpr std::size_t most_threads = 16;
  const std::lock_guard lock(mutex_);
  if (threads_.size() == most_threads) return false;
  try {
    threads_.emplace_back(task, data);
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void Context::lack(const char* what) {
  const std::lock_guard lock(mutex_);
  lacked_ = what;
}

std::string Context::lacked() const {
  const std::lock_guard lock(mutex_);
  return lacked_;
}

const Api& api() {
  static const Api table = make_api();
  return table;
}

Error* wait_for(Future* future) {
  std::unique_lock lock(future->mutex);
  future->changed.wait(lock, [future] { return future->done; });
  return future->error;
}

}  // namespace opseal::ffi
