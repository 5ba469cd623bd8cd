// Handlers of every form that the headers of XLA's FFI know, for tests/live_handlers_test.py, which
// compiles this against the headers of several jaxlib wheels. RUN_ID, DEVICE_ORDINAL and CONTEXT
// are defined where the headers have them.

#include <complex>
#include <cstdint>
#include <memory>
#include <string_view>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

enum class Mode : int8_t { fast = 0, exact = 1 };
struct Window {
  int64_t size;
  float scale;
};

XLA_FFI_REGISTER_ENUM_ATTR_DECODING(Mode);
XLA_FFI_REGISTER_STRUCT_ATTR_DECODING(Window, ::xla::ffi::StructMember<int64_t>("size"),
                                      ::xla::ffi::StructMember<float>("scale"));

using F32 = ffi::Buffer<ffi::F32>;
using Matrix = ffi::BufferR2<ffi::BF16>;

static volatile int kept;
static ffi::Error done() {
  kept = kept + 1;
  return ffi::Error::Success();
}

static ffi::Error add(F32, F32, ffi::ResultBuffer<ffi::F32>) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(plain_handler, add,
                              ffi::Ffi::Bind().Arg<F32>().Arg<F32>().Ret<F32>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(deduced_handler, add);

static ffi::Error rank(Matrix, ffi::AnyBuffer, ffi::Result<Matrix>, ffi::Result<ffi::AnyBuffer>) {
  return done();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    ranked_handler, rank,
    ffi::Ffi::Bind().Arg<Matrix>().Arg<ffi::AnyBuffer>().Ret<Matrix>().Ret<ffi::AnyBuffer>());

static ffi::Future later(F32, ffi::ResultBuffer<ffi::F32>) {
  ffi::Promise promise;
  ffi::Future future(promise);
  promise.SetAvailable();
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(async_handler, later, ffi::Ffi::Bind().Arg<F32>().Ret<F32>());

struct Plan {
  static ffi::TypeId id;
  int steps = 0;
};
ffi::TypeId Plan::id = {};
static ffi::ErrorOr<std::unique_ptr<Plan>> make_plan(int64_t) { return std::make_unique<Plan>(); }
static ffi::Error use_plan(Plan* plan, F32, ffi::ResultBuffer<ffi::F32>) {
  ++plan->steps;
  return done();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(instantiate_handler, make_plan,
                              ffi::Ffi::BindInstantiate().Attr<int64_t>("steps"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(stateful_handler, use_plan,
                              ffi::Ffi::Bind().Ctx<ffi::State<Plan>>().Arg<F32>().Ret<F32>());

static ffi::Error prepare() { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(prepare_handler, prepare,
                              ffi::Ffi::Bind<ffi::ExecutionStage::kPrepare>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(initialize_handler, prepare,
                              ffi::Ffi::Bind<ffi::ExecutionStage::kInitialize>());

static ffi::Error pass(ffi::Token, F32, ffi::Result<ffi::Token>) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(token_handler, pass,
                              ffi::Ffi::Bind().Arg<ffi::Token>().Arg<F32>().Ret<ffi::Token>());

static ffi::Error many(F32, ffi::RemainingArgs, ffi::RemainingRets) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(variadic_handler, many,
                              ffi::Ffi::Bind().Arg<F32>().RemainingArgs().RemainingRets());

static ffi::Error perhaps(F32, std::optional<F32>, ffi::ResultBuffer<ffi::F32>,
                          std::optional<ffi::ResultBuffer<ffi::F32>>) {
  return done();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    optional_handler, perhaps,
    ffi::Ffi::Bind().Arg<F32>().OptionalArg<F32>().Ret<F32>().OptionalRet<F32>());

static ffi::Error scalars(ffi::AnyBuffer, bool, int8_t, int16_t, int32_t, int64_t, uint8_t,
                          uint16_t, uint32_t, uint64_t, float, double, std::complex<float>,
                          std::complex<double>, std::string_view) {
  return done();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(scalars_handler, scalars,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Attr<bool>("a")
                                  .Attr<int8_t>("b")
                                  .Attr<int16_t>("c")
                                  .Attr<int32_t>("d")
                                  .Attr<int64_t>("e")
                                  .Attr<uint8_t>("f")
                                  .Attr<uint16_t>("g")
                                  .Attr<uint32_t>("h")
                                  .Attr<uint64_t>("i")
                                  .Attr<float>("j")
                                  .Attr<double>("k")
                                  .Attr<std::complex<float>>("l")
                                  .Attr<std::complex<double>>("m")
                                  .Attr<std::string_view>("n"));

// Its type's name is longer than the C++ runtime's demangler takes.
using R1 = ffi::BufferR1<ffi::C64>;
using R3 = ffi::BufferR3<ffi::F16>;
static ffi::Error wide(F32, Matrix, R1, R3, ffi::Buffer<ffi::PRED>, ffi::Buffer<ffi::S8>,
                       ffi::Buffer<ffi::S16>, ffi::Buffer<ffi::S32>, ffi::Buffer<ffi::S64>,
                       ffi::Buffer<ffi::U8>, ffi::Buffer<ffi::U16>, ffi::Buffer<ffi::U32>,
                       ffi::Buffer<ffi::U64>, ffi::Buffer<ffi::F16>, ffi::Buffer<ffi::F64>,
                       ffi::Buffer<ffi::C128>, ffi::Buffer<ffi::C64>, ffi::BufferR4<ffi::S64>,
                       ffi::Result<R1>, ffi::Result<R3>) {
  return done();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(wide_handler, wide,
                              ffi::Ffi::Bind()
                                  .Arg<F32>()
                                  .Arg<Matrix>()
                                  .Arg<R1>()
                                  .Arg<R3>()
                                  .Arg<ffi::Buffer<ffi::PRED>>()
                                  .Arg<ffi::Buffer<ffi::S8>>()
                                  .Arg<ffi::Buffer<ffi::S16>>()
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Arg<ffi::Buffer<ffi::S64>>()
                                  .Arg<ffi::Buffer<ffi::U8>>()
                                  .Arg<ffi::Buffer<ffi::U16>>()
                                  .Arg<ffi::Buffer<ffi::U32>>()
                                  .Arg<ffi::Buffer<ffi::U64>>()
                                  .Arg<ffi::Buffer<ffi::F16>>()
                                  .Arg<ffi::Buffer<ffi::F64>>()
                                  .Arg<ffi::Buffer<ffi::C128>>()
                                  .Arg<ffi::Buffer<ffi::C64>>()
                                  .Arg<ffi::BufferR4<ffi::S64>>()
                                  .Ret<R1>()
                                  .Ret<R3>());

static ffi::Error spans(ffi::Span<const int64_t>, ffi::Span<const float>, Mode) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(span_handler, spans,
                              ffi::Ffi::Bind()
                                  .Attr<ffi::Span<const int64_t>>("axes")
                                  .Attr<ffi::Span<const float>>("weights")
                                  .Attr<Mode>("mode"));

static ffi::Error words(F32, ffi::Dictionary) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(dictionary_handler, words, ffi::Ffi::Bind().Arg<F32>().Attrs());

static ffi::Error window(F32, Window) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(struct_handler, window, ffi::Ffi::Bind().Arg<F32>().Attrs<Window>());

static ffi::Error pointed(int64_t*) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(pointer_handler, pointed,
                              ffi::Ffi::Bind().Attr<ffi::Pointer<int64_t>>("where"));

struct Stream;
struct User {
  static ffi::TypeId id;
};
ffi::TypeId User::id = {};
static ffi::Error context(Stream*, ffi::ScratchAllocator, ffi::ThreadPool, User*) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(context_handler, context,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<Stream*>>()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Ctx<ffi::ThreadPool>()
                                  .Ctx<ffi::UserData<User>>());

#ifdef RUN_ID
static ffi::Error run(ffi::RunId) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(run_handler, run, ffi::Ffi::Bind().Ctx<ffi::RunId>());
#endif
#ifdef DEVICE_ORDINAL
static ffi::Error device(int32_t) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(device_handler, device, ffi::Ffi::Bind().Ctx<ffi::DeviceOrdinal>());
#endif
#ifdef CONTEXT
static ffi::Error whole(ffi::Context) { return done(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(whole_handler, whole, ffi::Ffi::Bind().Ctx<ffi::Context>());
#endif
#if XLA_FFI_API_MINOR >= 4
XLA_FFI_DEFINE_HANDLER_SYMBOL(record_handler, prepare,
                              ffi::Ffi::Bind<ffi::ExecutionStage::kRecord>());
#endif

// A function whose type has no name outside of this file, a closure, and two that share a type.
namespace {
struct Adder {
  ffi::Error operator()(F32, ffi::ResultBuffer<ffi::F32>) const { return done(); }
};
}  // namespace
XLA_FFI_DEFINE_HANDLER_SYMBOL(hidden_type_handler, Adder{}, ffi::Ffi::Bind().Arg<F32>().Ret<F32>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(closure_handler,
                              ([](Matrix, ffi::ResultBuffer<ffi::F64>) { return done(); }),
                              ffi::Ffi::Bind().Arg<Matrix>().Ret<ffi::Buffer<ffi::F64>>());

// No handlers: a legacy custom call, and a function that hands handlers out.
extern "C" void legacy_call(void* out, const void** in) { kept = kept + (out == *in); }
extern "C" const void* registrations(int which) {
  static const void* const handlers[] = {
      reinterpret_cast<const void*>(&plain_handler),
      reinterpret_cast<const void*>(&token_handler),
  };
  return handlers[which & 1];
}
extern "C" const void* address_of_token_handler() {
  return reinterpret_cast<const void*>(&token_handler);
}
