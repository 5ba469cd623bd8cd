// Kernels that do something, for tests/live_probe_test.py, which compiles this against the headers
// of several jaxlib wheels and has `opseal probe` call them by tests/native/probe/jaxlib.json.

#include <cstdint>
#include <memory>
#include <string_view>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

using F32 = ffi::Buffer<ffi::F32>;
using OutF32 = ffi::ResultBuffer<ffi::F32>;

static ffi::Error axpy(float alpha, int64_t repeat, std::string_view mode, bool negate, F32 x,
                       F32 y, OutF32 z) {
  if (mode != "plain") return ffi::Error::InvalidArgument("no such mode");
  for (size_t at = 0; at < x.element_count(); ++at) {
    float sum = y.typed_data()[at];
    for (int64_t turn = 0; turn < repeat; ++turn) sum += alpha * x.typed_data()[at];
    z->typed_data()[at] = negate ? -sum : sum;
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Axpy, axpy,
                              ffi::Ffi::Bind()
                                  .Attr<float>("alpha")
                                  .Attr<int64_t>("repeat")
                                  .Attr<std::string_view>("mode")
                                  .Attr<bool>("negate")
                                  .Arg<F32>()
                                  .Arg<F32>()
                                  .Ret<F32>());

static ffi::Error scratch(ffi::ScratchAllocator allocator, F32 x, OutF32 y) {
  const size_t count = x.element_count();
  if (count == 0) return ffi::Error::Success();
  auto memory = allocator.Allocate(count * sizeof(float));
  if (!memory.has_value()) return ffi::Error(ffi::ErrorCode::kResourceExhausted, "no memory");
  auto* copy = static_cast<float*>(*memory);
  for (size_t at = 0; at < count; ++at) copy[at] = x.typed_data()[at];
  for (size_t at = 0; at < count; ++at) y->typed_data()[at] = 2 * copy[at];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Scratch, scratch,
                              ffi::Ffi::Bind().Ctx<ffi::ScratchAllocator>().Arg<F32>().Ret<F32>());

// Ends on another thread, after the call came back.
static ffi::Future later(ffi::ThreadPool pool, F32 x, OutF32 y) {
  ffi::Promise promise;
  ffi::Future future(promise);
  auto shared = std::make_shared<ffi::Promise>(std::move(promise));
  const float* from = x.typed_data();
  float* to = y->typed_data();
  const size_t count = x.element_count();
  pool.Schedule([shared, from, to, count] {
    for (size_t at = 0; at < count; ++at) to[at] = 2 * from[at];
    shared->SetAvailable();
  });
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Later, later,
                              ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<F32>().Ret<F32>());

// Untyped, with a switch of its own.
static ffi::Error any(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  if (x.element_type() != y->element_type()) return ffi::Error::InvalidArgument("two dtypes");
  switch (x.element_type()) {
    case ffi::DataType::F32:
      for (size_t at = 0; at < x.element_count(); ++at) {
        static_cast<float*>(y->untyped_data())[at] = 2 * static_cast<float*>(x.untyped_data())[at];
      }
      return ffi::Error::Success();
    case ffi::DataType::F64:
      for (size_t at = 0; at < x.element_count(); ++at) {
        static_cast<double*>(y->untyped_data())[at] =
            2 * static_cast<double*>(x.untyped_data())[at];
      }
      return ffi::Error::Success();
    default:
      return ffi::Error::InvalidArgument("only F32 and F64");
  }
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Any, any,
                              ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());

// The same without its switch's default.
static ffi::Error blind(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y) {
  for (size_t at = 0; at < x.size_bytes(); ++at) {
    static_cast<char*>(y->untyped_data())[at] = static_cast<char*>(x.untyped_data())[at];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Blind, blind,
                              ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());

static ffi::Error tail(F32 x, OutF32 y) {
  for (size_t at = 0; at < x.element_count() / 8 * 8; ++at) {
    y->typed_data()[at] = 2 * x.typed_data()[at];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Tail, tail, ffi::Ffi::Bind().Arg<F32>().Ret<F32>());

static ffi::Error variadic(ffi::RemainingArgs arguments, OutF32 y) {
  for (size_t at = 0; at < y->element_count(); ++at) y->typed_data()[at] = 0;
  for (size_t number = 0; number < arguments.size(); ++number) {
    auto x = arguments.get<F32>(number);
    if (!x.has_value()) return x.error();
    for (size_t at = 0; at < y->element_count(); ++at) {
      y->typed_data()[at] += x->typed_data()[at];
    }
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Variadic, variadic, ffi::Ffi::Bind().RemainingArgs().Ret<F32>());

static ffi::Error token(ffi::Token, F32 x, ffi::Result<ffi::Token>, OutF32 y) {
  for (size_t at = 0; at < x.element_count(); ++at) y->typed_data()[at] = x.typed_data()[at];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Tokens, token, ffi::Ffi::Bind().Arg<ffi::Token>().Arg<F32>().Ret<ffi::Token>().Ret<F32>());

// A factor that is worked out once.
struct Plan {
  static ffi::TypeId id;
  float factor = 0;
};
ffi::TypeId Plan::id = {};
static ffi::ErrorOr<std::unique_ptr<Plan>> make_plan(float alpha) {
  auto plan = std::make_unique<Plan>();
  plan->factor = 2 * alpha;
  return plan;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(PlanMake, make_plan,
                              ffi::Ffi::BindInstantiate().Attr<float>("alpha"));
static ffi::Error use_plan(Plan* plan, float alpha, F32 x, OutF32 y) {
  if (plan->factor != 2 * alpha) return ffi::Error(ffi::ErrorCode::kInternal, "another plan");
  for (size_t at = 0; at < x.element_count(); ++at) {
    y->typed_data()[at] = plan->factor * x.typed_data()[at];
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    PlanUse, use_plan,
    ffi::Ffi::Bind().Ctx<ffi::State<Plan>>().Attr<float>("alpha").Arg<F32>().Ret<F32>());
