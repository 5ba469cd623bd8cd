// Handlers that their library keeps to itself: handed_ops.py gets their addresses from a table and
// hands them out. What each is declared to be stands in handed.json.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "tests/native/probe/handler.h"

using namespace fake;

namespace {

constexpr std::int32_t f32 = 11;

const Binding& unary() {
  static const Binding binding{{{f32}}, {{f32}}, {}, 0};
  return binding;
}

// What the module has to hand over before the handlers work, as LAPACK's functions in jaxlib.
bool initialized = false;

void twice(ffi::Frame* frame, std::size_t count) {
  if (!initialized) std::abort();
  const auto* from = static_cast<const float*>(argument(frame, 0).data);
  auto* to = static_cast<float*>(result(frame, 0).data);
  for (std::size_t at = 0; at < count; ++at) to[at] = 2 * from[at];
}

}  // namespace

HANDLER(HandedHonest, unary()) {
  twice(frame, elements(argument(frame, 0)));
  return nullptr;
}

// Blocks of four, and nobody does the rest.
HANDLER(HandedLiar, unary()) {
  twice(frame, elements(argument(frame, 0)) / 4 * 4);
  return nullptr;
}

// A crash costs one child, and the module is imported again for what comes after.
HANDLER(HandedCrash, unary()) {
  if (elements(argument(frame, 0)) == 1) std::raise(SIGSEGV);
  twice(frame, elements(argument(frame, 0)));
  return nullptr;
}

// Does its work only where it can neither leave anything behind nor start anything.
HANDLER(HandedShutIn, unary()) {
  const char* path = "opseal-handed-escape";
  const int file = ::open(path, O_WRONLY | O_CREAT, 0600);
  if (file >= 0) ::unlink(path);
  const pid_t process = ::fork();
  if (process == 0) ::_exit(0);
  if (file < 0 && process < 0) twice(frame, elements(argument(frame, 0)));
  return nullptr;
}

// Runs after what its module hands out for the stage before.
bool made = false;

HANDLER(HandedMake, {{}, {}, {}, 0, ffi::instantiate}) {
  made = true;
  return nullptr;
}

HANDLER(HandedStaged, unary()) {
  if (!made) std::abort();
  twice(frame, elements(argument(frame, 0)));
  return nullptr;
}

// Takes two pointers and no frame: whoever calls it as a handler learns it.
extern "C" void HandedOldKind(void*, void**) { std::abort(); }

extern "C" __attribute__((visibility("default"))) void* handed_table(int place) {
  switch (place) {
    case 0:
      return reinterpret_cast<void*>(HandedHonest);
    case 1:
      return reinterpret_cast<void*>(HandedLiar);
    case 2:
      return reinterpret_cast<void*>(HandedCrash);
    case 4:
      return reinterpret_cast<void*>(HandedShutIn);
    case 5:
      return reinterpret_cast<void*>(HandedMake);
    case 6:
      return reinterpret_cast<void*>(HandedStaged);
    default:
      return reinterpret_cast<void*>(HandedOldKind);
  }
}

extern "C" __attribute__((visibility("default"))) void handed_initialize() { initialized = true; }
