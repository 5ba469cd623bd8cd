// Handlers and kernels for tests/ffi_handlers_test.cpp and tests/host_links_test.cpp. Templates of
// the same names as those of XLA's headers make the compiler write the same names of types; there
// is nothing else in them.

#include <cstddef>
#include <cstdint>

namespace xla::ffi {

enum class ExecutionStage : std::uint8_t { instantiate, prepare, initialize, execute, record };
enum class DataType : std::uint32_t { S32 = 4, F32 = 11, TOKEN = 17 };

template <DataType dtype, std::size_t rank = static_cast<std::size_t>(-1)>
class Buffer {};
class AnyBuffer {};
class Dictionary {};
class Error {};
template <typename T>
class Span {};
template <typename T>
struct PlatformStream {};
template <typename T, ExecutionStage stage>
struct State {};

namespace internal {
template <typename T>
struct ArgTag {};
template <typename T>
struct OptionalArgTag {};
template <typename T>
struct RetTag {};
template <typename T>
struct AttrTag {};
template <typename T>
struct AttrsTag {};
template <typename T>
struct CtxTag {};
struct RemainingArgsTag {};
struct RemainingRetsTag {};
}  // namespace internal

struct Base {
  virtual ~Base() = default;
  virtual void* call(void* frame) const = 0;
};

template <ExecutionStage stage, typename Function, typename... Bound>
class Handler : public Base {
 public:
  explicit Handler(Function function) : function_(function) {}
  void* call(void* frame) const override {
    function_(frame);
    return nullptr;
  }

 private:
  Function function_;
};

// Compilers would see through all of this otherwise.
template <typename T>
const Base* made(T* handler) {
  asm volatile("" : "+r"(handler));
  return handler;
}

}  // namespace xla::ffi

using namespace xla::ffi;
using namespace xla::ffi::internal;

// ---- kernels: what the host compiler of nvcc leaves for each

extern "C" {
void __cudaRegisterFunction(void**, const void* stub, const char* name, const char* device_name,
                            int limit, void*, void*, void*, void*, int*);
void cudaLaunchKernel(const void* stub, void** arguments);
}

__attribute__((noinline)) void launch_scale(void* frame) {
  cudaLaunchKernel(reinterpret_cast<const void*>(&launch_scale), &frame);
}
__attribute__((noinline)) void launch_add(void* frame) {
  cudaLaunchKernel(reinterpret_cast<const void*>(&launch_add), &frame);
}
__attribute__((noinline)) void launch_unused(void* frame) {
  cudaLaunchKernel(reinterpret_cast<const void*>(&launch_unused), &frame);
}

static void* device_code;
__attribute__((constructor)) static void register_kernels() {
  const auto one = [](const void* stub, const char* name) __attribute__((always_inline)) {
    __cudaRegisterFunction(&device_code, stub, name, name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
  };
  one(reinterpret_cast<const void*>(&launch_scale), "_Z5scalePfi");
  one(reinterpret_cast<const void*>(&launch_add), "_Z3addPfS_");
  one(reinterpret_cast<const void*>(&launch_unused), "_Z6unusedv");
}
// The end of another text, where linkers may keep it, and one that nothing registers.
extern "C" const char* const spoken_of = "not registered: _Z6spokenv";

// ---- handlers

static void run_scale(void* frame) { launch_scale(frame); }
static void run_both(void* frame) {
  launch_scale(frame);
  launch_add(frame);
}
static void run_nothing(void*) {}
using Function = void (*)(void*);

using F32 = Buffer<DataType::F32>;
using Matrix = Buffer<DataType::S32, 2>;
struct Cuda;
struct Plan;
enum class Mode : int { fast };

template <typename... Bound>
using Execute = Handler<ExecutionStage::execute, Function, Bound...>;

extern "C" void* scale(void* frame) {
  static const Base* const handler =
      made(new Execute<CtxTag<PlatformStream<Cuda*>>, ArgTag<F32>, RetTag<Matrix>, AttrTag<float>>(
          run_scale));
  return handler->call(frame);
}
// As headers before API 0.2 have arguments.
extern "C" void* both(void* frame) {
  static const Base* const handler =
      made(new Execute<AnyBuffer, F32, RetTag<AnyBuffer>, AttrTag<Span<const long>>, AttrTag<Mode>>(
          run_both));
  return handler->call(frame);
}
extern "C" void* make_plan(void* frame) {
  static const Base* const handler =
      made(new Handler<ExecutionStage::instantiate, Function, AttrsTag<Dictionary>>(run_nothing));
  return handler->call(frame);
}
extern "C" void* use_plan(void* frame) {
  static const Base* const handler =
      made(new Execute<CtxTag<State<Plan, ExecutionStage::instantiate>>,
                       ArgTag<Buffer<DataType::TOKEN, 0>>, OptionalArgTag<F32>, RemainingArgsTag,
                       RemainingRetsTag>(run_nothing));
  return handler->call(frame);
}

namespace {
struct Secret {
  void operator()(void*) const {}
};
}  // namespace
extern "C" void* secret(void* frame) {
  static const Base* const handler =
      made(new Handler<ExecutionStage::prepare, Secret, RetTag<F32>>(Secret()));
  return handler->call(frame);
}

// Which of two it is depends on the frame.
extern "C" void* either(void* frame) {
  static const Base* const first = made(new Execute<ArgTag<F32>, ArgTag<F32>>(run_nothing));
  static const Base* const second = made(new Execute<ArgTag<Matrix>, ArgTag<Matrix>>(run_nothing));
  return (frame != nullptr ? first : second)->call(frame);
}

// Not exported, and handed out.
static void* handed_out(void* frame) {
  static const Base* const handler =
      made(new Execute<RetTag<AnyBuffer>, RetTag<AnyBuffer>>(run_nothing));
  return handler->call(frame);
}
extern "C" void* registrations() { return reinterpret_cast<void*>(&handed_out); }
extern "C" void legacy(void* out, const void**) { *static_cast<int*>(out) = 1; }
