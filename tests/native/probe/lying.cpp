// Kernels that lie, one for each thing that a probe checks, and honest twins. What each is declared
// to be stands in lying.json, and which finding it must bring in tests/probe_test.cpp.

#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "tests/native/probe/handler.h"

using namespace fake;

namespace {

constexpr std::int32_t f32 = 11;
constexpr std::int32_t f64 = 12;
constexpr std::int32_t bf16 = 16;

template <typename T>
T* data(ffi::Buffer& buffer) {
  return static_cast<T*>(buffer.data);
}

// y = 2 x
template <typename T>
void twice(ffi::Frame* frame, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) {
    data<T>(result(frame, 0))[at] = 2 * data<T>(argument(frame, 0))[at];
  }
}

void twice_all(ffi::Frame* frame) { twice<float>(frame, elements(argument(frame, 0))); }

const Binding& unary() {
  static const Binding binding{{{f32}}, {{f32}}, {}, 0};
  return binding;
}

volatile int kept;

}  // namespace

// --- Honest ones.

HANDLER(Honest, {{{f32}}, {{f32}}, {{"alpha", f32}}, 0}) {
  const float alpha =
      *static_cast<float*>(static_cast<ffi::Scalar*>(frame->attributes.values[0])->value);
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    data<float>(result(frame, 0))[at] = alpha * data<float>(argument(frame, 0))[at];
  }
  return nullptr;
}

// Looks at the dtype itself, and refuses what it doesn't serve.
HANDLER(HonestAny, {{{0}}, {{0}}, {}, 0}) {
  const std::size_t count = elements(argument(frame, 0));
  if (argument(frame, 0).dtype == f32 && result(frame, 0).dtype == f32) {
    twice<float>(frame, count);
  } else if (argument(frame, 0).dtype == f64 && result(frame, 0).dtype == f64) {
    twice<double>(frame, count);
  } else {
    return make_error(frame, ffi::invalid_argument, "only F32 and F64");
  }
  return nullptr;
}

// Writes its argument, and says so.
HANDLER(HonestInPlace, {{{f32}, {f32}}, {}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    data<float>(argument(frame, 0))[at] += data<float>(argument(frame, 1))[at] * 0.5F;
  }
  return nullptr;
}

// Shares the buffer of its argument.
HANDLER(HonestShared, unary()) {
  twice_all(frame);
  return nullptr;
}

// Rows and columns: an extent taken for the other one shows.
HANDLER(HonestRows, {{{f32, 2}}, {{f32, 1}}, {}, 0}) {
  const std::int64_t rows = argument(frame, 0).dims[0];
  const std::int64_t columns = argument(frame, 0).dims[1];
  for (std::int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (std::int64_t column = 0; column < columns; ++column) {
      sum += data<float>(argument(frame, 0))[row * columns + column];
    }
    data<float>(result(frame, 0))[row] = sum;
  }
  return nullptr;
}

// Steps and grids are no loss, though numbers from 1 on have the digits of single precision here.
HANDLER(HonestGrid, {{{f64}}, {{f64}, {f64}}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    const double x = data<double>(argument(frame, 0))[at];
    data<double>(result(frame, 0))[at] = std::round(0x1p23 * x) * 0x1p-23;
    data<double>(result(frame, 1))[at] = x > 0 ? 0.5 : 0.25;
  }
  return nullptr;
}

// Different bits each time, and nobody said otherwise.
HANDLER(HonestNoise, unary()) {
  static std::atomic<int> calls{0};
  twice_all(frame);
  if (elements(result(frame, 0)) > 0) {
    data<float>(result(frame, 0))[0] += static_cast<float>(++calls) * 1e-3F;
  }
  return nullptr;
}

// Trusts its indexes, as its declaration lets it.
HANDLER(HonestGather, {{{f32}, {4}}, {{f32}}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 1)); ++at) {
    data<float>(result(frame, 0))[at] =
        data<float>(argument(frame, 0))[data<std::int32_t>(argument(frame, 1))[at]];
  }
  return nullptr;
}

// Its result has an extent that opseal can't work out.
HANDLER(HonestConcat, {{{f32}, {f32}}, {{f32}}, {}, 0}) {
  const std::size_t first = elements(argument(frame, 0));
  for (std::size_t at = 0; at < first; ++at) {
    data<float>(result(frame, 0))[at] = data<float>(argument(frame, 0))[at];
  }
  for (std::size_t at = 0; at < elements(argument(frame, 1)); ++at) {
    data<float>(result(frame, 0))[first + at] = data<float>(argument(frame, 1))[at];
  }
  return nullptr;
}

// Blocks of four, which it says.
HANDLER(HonestBlocks, unary()) {
  twice<float>(frame, elements(argument(frame, 0)) / 4 * 4);
  return nullptr;
}

// Its integers are places in a row of the result.
HANDLER(HonestOneHot, {{{4, 1}}, {{f32, 2}}, {}, 0}) {
  const std::int64_t width = result(frame, 0).dims[1];
  for (std::size_t at = 0; at < elements(result(frame, 0)); ++at) {
    data<float>(result(frame, 0))[at] = 0;
  }
  for (std::int64_t row = 0; row < argument(frame, 0).dims[0]; ++row) {
    data<float>(result(frame, 0))[row * width + data<std::int32_t>(argument(frame, 0))[row]] = 1;
  }
  return nullptr;
}

// What a stage before this one keeps: a factor that the attribute says.
std::int64_t state_type = 0;

struct StateArguments {
  std::size_t size = 48;
  void* extensions = nullptr;
  void* context;
  std::int32_t stage = ffi::instantiate;
  std::int64_t* type = &state_type;
  void* state = nullptr;
};

HANDLER(StateMake, {{}, {}, {{"factor", f32}}, 0, ffi::instantiate}) {
  const float factor =
      *static_cast<float*>(static_cast<ffi::Scalar*>(frame->attributes.values[0])->value);
  if (factor == 0) return make_error(frame, ffi::invalid_argument, "a factor of 0");
  StateArguments arguments{.context = frame->context, .state = new float(factor)};
  return static_cast<ffi::Error*>(frame->api->slots[7](&arguments));
}

// Before each call.
std::atomic<int> state_calls{0};
HANDLER(StateReady, {{}, {}, {}, 0, ffi::initialize}) {
  ++state_calls;
  return nullptr;
}

HANDLER(StateUse, unary()) {
  StateArguments arguments{.context = frame->context};
  void* error = frame->api->slots[8](&arguments);
  if (error != nullptr) return static_cast<ffi::Error*>(error);
  if (state_calls-- <= 0) return make_error(frame, ffi::failed_precondition, "not initialized");
  const float factor = *static_cast<float*>(arguments.state);
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    data<float>(result(frame, 0))[at] = factor * data<float>(argument(frame, 0))[at];
  }
  return nullptr;
}

// Cuts off what is far out, in place: most numbers stay what they are.
HANDLER(HonestClip, {{{f32}}, {}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    float& value = data<float>(argument(frame, 0))[at];
    value = std::fmin(std::fmax(value, -10.0F), 10.0F);
  }
  return nullptr;
}

// --- Liars.

HANDLER(LeavesTail, unary()) {
  // Blocks of four, and nobody does the rest.
  twice<float>(frame, elements(argument(frame, 0)) / 4 * 4);
  return nullptr;
}

// Only the low half of each number.
HANDLER(HalfWritten, {{{f64}}, {{f64}}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    std::memcpy(data<double>(result(frame, 0)) + at, data<double>(argument(frame, 0)) + at, 4);
  }
  return nullptr;
}

// Adds to what stood there.
HANDLER(ReadsResult, unary()) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    data<float>(result(frame, 0))[at] += data<float>(argument(frame, 0))[at];
  }
  return nullptr;
}

// A sum over nothing is nothing, and nobody writes it down.
HANDLER(EmptySum, {{{f32, 2}}, {{f32, 1}}, {}, 0}) {
  const std::int64_t columns = argument(frame, 0).dims[1];
  for (std::int64_t at = 0; at < argument(frame, 0).dims[0] * columns; ++at) {
    float& sum = data<float>(result(frame, 0))[at / columns];
    sum = (at % columns == 0 ? 0 : sum) + data<float>(argument(frame, 0))[at];
  }
  return nullptr;
}

HANDLER(WritesPast, unary()) {
  twice_all(frame);
  data<float>(result(frame, 0))[elements(result(frame, 0))] = 1.0F;
  return nullptr;
}

HANDLER(WritesBefore, unary()) {
  twice_all(frame);
  data<float>(result(frame, 0))[-1] = 1.0F;
  return nullptr;
}

HANDLER(ReadsFar, unary()) {
  twice_all(frame);
  kept = static_cast<int>(data<float>(argument(frame, 0))[elements(argument(frame, 0)) + 3000]);
  return nullptr;
}

HANDLER(ReadsBefore, unary()) {
  twice_all(frame);
  kept = static_cast<int>(data<float>(argument(frame, 0))[-40]);
  return nullptr;
}

HANDLER(WritesInput, unary()) {
  twice_all(frame);
  if (elements(argument(frame, 0)) > 0) data<float>(argument(frame, 0))[0] = 0;
  return nullptr;
}

HANDLER(Unstable, unary()) {
  static std::atomic<int> calls{0};
  twice_all(frame);
  if (elements(result(frame, 0)) > 0) {
    data<float>(result(frame, 0))[0] += static_cast<float>(++calls) * 1e-3F;
  }
  return nullptr;
}

HANDLER(Inaccurate, {{{0}}, {{0}}, {}, 0}) {
  const std::size_t count = elements(argument(frame, 0));
  if (argument(frame, 0).dtype == f64 && result(frame, 0).dtype == f64) {
    twice<double>(frame, count);
  } else if (argument(frame, 0).dtype == f32 && result(frame, 0).dtype == f32) {
    twice<float>(frame, count);
    for (std::size_t at = 0; at < count; ++at) data<float>(result(frame, 0))[at] *= 1.00001F;
  } else {
    return make_error(frame, ffi::invalid_argument, "only F32 and F64");
  }
  return nullptr;
}

// Another kernel of the operator that HonestAny serves.
HANDLER(Alternative, {{{f32}}, {{f32}}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    data<float>(result(frame, 0))[at] = 2.001F * data<float>(argument(frame, 0))[at];
  }
  return nullptr;
}

HANDLER(LosesUpdate, {{{f32}, {f32}}, {}, {}, 0}) {
  std::vector<float> copy(elements(argument(frame, 0)));
  for (std::size_t at = 0; at < copy.size(); ++at) {
    copy[at] = data<float>(argument(frame, 0))[at] + data<float>(argument(frame, 1))[at];
  }
  kept = copy.empty() ? 0 : static_cast<int>(copy[0]);
  return nullptr;
}

// A table that is said to be there before it is.
HANDLER(ColdStart, unary()) {
  static std::atomic<bool> started{false};
  static std::atomic<float> factor{0};
  if (!started.exchange(true)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    factor = 2;
  }
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    data<float>(result(frame, 0))[at] = factor * data<float>(argument(frame, 0))[at];
  }
  return nullptr;
}

// All calls write into one buffer, and read their results from it a little later.
HANDLER(SharesScratch, unary()) {
  static std::vector<std::atomic<float>> scratch(2048);
  const std::size_t count = elements(argument(frame, 0));
  for (std::size_t at = 0; at < count; ++at) scratch[at] = data<float>(argument(frame, 0))[at];
  if (count > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (std::size_t at = 0; at < count; ++at) data<float>(result(frame, 0))[at] = scratch[at];
  return nullptr;
}

// Takes two elements at a time, and forgets the last pair.
HANDLER(LeavesEvenTail, unary()) {
  const std::size_t count = elements(argument(frame, 0));
  const std::size_t last = count % 2 == 0 && count > 0 ? count - 2 : count;
  for (std::size_t at = 0; at < last; ++at) {
    data<float>(result(frame, 0))[at] = data<float>(argument(frame, 0))[at];
  }
  return nullptr;
}

// Gives its only slot away.
HANDLER(ServesOnce, unary()) {
  static std::atomic<bool> taken{false};
  if (taken.exchange(true)) return make_error(frame, ffi::resource_exhausted, "no free slot");
  twice_all(frame);
  return nullptr;
}

// Likewise, and what it cuts off in place is far out: ordinary numbers stay what they are.
HANDLER(ClipsOnce, {{{f32}}, {}, {}, 0}) {
  static std::atomic<bool> taken{false};
  if (taken.exchange(true)) return make_error(frame, ffi::resource_exhausted, "no free slot");
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    float& value = data<float>(argument(frame, 0))[at];
    value = std::fmin(std::fmax(value, -1000.0F), 1000.0F);
  }
  return nullptr;
}

// Another kernel for what HonestAny does, which takes the last element for something else.
HANDLER(Elsewhere, unary()) {
  twice_all(frame);
  const std::size_t count = elements(result(frame, 0));
  if (count > 0) data<float>(result(frame, 0))[count - 1] += 1;
  return nullptr;
}

HANDLER(DividesByZero, unary()) {
  volatile int count = static_cast<int>(elements(argument(frame, 0)));
  kept = 1000 / count;
  twice_all(frame);
  return nullptr;
}

HANDLER(HangsOnOne, unary()) {
  volatile bool go_on = elements(argument(frame, 0)) == 1;
  while (go_on) {
  }
  twice_all(frame);
  return nullptr;
}

HANDLER(Leaves, unary()) { std::exit(0); }

HANDLER(Aborts, unary()) {
  std::fputs("assertion failed: aligned\n", stderr);
  std::abort();
}

HANDLER(StackOverflow, unary()) {
  struct Deep {
    static int go(int depth) {
      volatile char room[4096];
      room[0] = static_cast<char>(depth);
      return depth > (1 << 28) ? room[0] : go(depth + 1) + room[0];
    }
  };
  kept = Deep::go(0);
  twice_all(frame);
  return nullptr;
}

// Declared for BF16 too.
HANDLER(DtypeLie, unary()) {
  twice_all(frame);
  return nullptr;
}

// Computes in single precision, whatever it is handed.
HANDLER(InSingle, {{{f64}}, {{f64}}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    const auto single = static_cast<float>(data<double>(argument(frame, 0))[at]);
    data<double>(result(frame, 0))[at] = std::sin(single);
  }
  return nullptr;
}

// The same in 32 bits, with 11 digits.
HANDLER(InHalf, unary()) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    auto bits = std::bit_cast<std::uint32_t>(std::sin(data<float>(argument(frame, 0))[at]));
    bits = (bits + 0x1000U) & ~0x1FFFU;
    data<float>(result(frame, 0))[at] = std::bit_cast<float>(bits);
  }
  return nullptr;
}

// Looks at no dtype.
HANDLER(TakesAnything, {{{0}}, {{0}}, {}, 0}) {
  const std::size_t bytes =
      elements(argument(frame, 0)) * ffi::find_dtype_number(argument(frame, 0).dtype)->bytes;
  std::memcpy(result(frame, 0).data, argument(frame, 0).data, bytes);
  return nullptr;
}

// Its target says that it can be recorded.
HANDLER(WrongTrait, unary()) {
  twice_all(frame);
  return nullptr;
}

// Its target says `alpha`.
HANDLER(OtherAttribute, {{{f32}}, {{f32}}, {{"factor", f32}}, 0}) {
  twice_all(frame);
  return nullptr;
}

// Knows nothing of the handshake.
extern "C" ffi::Error* NoHandshake(ffi::Frame* frame) {
  if (frame->arguments.count != 1 || frame->results.count != 1) {
    return make_error(frame, ffi::invalid_argument, "one argument and one result");
  }
  if (frame->arguments.types[0] != 1 || frame->results.types[0] != 1) {
    return make_error(frame, ffi::invalid_argument, "buffers");
  }
  if (argument(frame, 0).dtype != f32) {
    return make_error(frame, ffi::invalid_argument, "F32");
  }
  twice_all(frame);
  return nullptr;
}
