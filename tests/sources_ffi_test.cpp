// What trees of sources say of XLA's handlers, and of functions that comments announce.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/sources/load.h"
#include "opseal/facts.h"
#include "tests/source_folder.h"

namespace opseal::test {
namespace {

std::string words(const Fact& list) {
  if (!list.is_list()) return "not said";
  std::string text;
  for (const Fact word : list.items()) text += (text.empty() ? "" : " ") + std::string(word.text());
  return text;
}

// `symbol stage: spec | parameters`, a line each.
std::string handlers(const Sources& sources) {
  const Facts facts = read_sources(sources);
  std::string text;
  for (const Fact handler : manifest_of(facts, "jax")[Key::handlers].items()) {
    if (!text.empty()) text += '\n';
    text += std::string(handler[Key::symbol].text()) + " " +
            std::string(handler[Key::stage].text("?")) + ": " + words(handler[Key::spec]) + " | " +
            words(handler[Key::parameters]);
  }
  return text;
}

// `name symbol (stages)`, a line each.
std::string targets(const Sources& sources) {
  const Facts facts = read_sources(sources);
  std::string text;
  for (const Fact target : manifest_of(facts, "jax")[Key::targets].items()) {
    if (!text.empty()) text += '\n';
    text += std::string(target[Key::name].text()) + " " +
            std::string(target[Key::symbol].text("?")) + " (" + words(target[Key::stages]) + ")";
    if (target[Key::when].is_text()) text += " if " + std::string(target[Key::when].text());
  }
  return text;
}

// `name arguments attribute=type …`, a line each.
std::string calls(std::string_view python) {
  const std::string cpp =
      "XLA_FFI_DEFINE_HANDLER(H, F, ffi::Ffi::Bind());\n"
      "void f() { d[\"op\"] = EncapsulateFfiHandler(H); }\n";
  const Facts facts = read_sources({{"a.cc", cpp}, {"a.py", std::string(python)}});
  std::string text;
  for (const Fact dispatch : manifest_of(facts, "jax")[Key::dispatch].items()) {
    for (const Fact lookup : dispatch[Key::lookups].items()) {
      if (!text.empty()) text += '\n';
      text += lookup[Key::operator_].text();
      if (lookup[Key::inputs].is_count()) {
        text += " " + std::to_string(lookup[Key::inputs].count());
      }
      for (const Fact attribute : lookup[Key::attributes].items()) {
        text += " " + std::string(attribute[Key::name].text()) + "=" +
                std::string(attribute[Key::type].text("?"));
      }
    }
  }
  return text;
}

// `name found|missing|? : spec | parameters`, a line each.
std::string annotations(const Sources& sources) {
  const Facts facts = read_sources(sources);
  std::string text;
  for (const Fact one : manifest_of(facts, "brainevent")[Key::annotations].items()) {
    if (!text.empty()) text += '\n';
    const Fact function = one[Key::function];
    text += std::string(one[Key::name].text()) + " " +
            (!function.said()     ? "?"
             : function.is_null() ? "missing"
                                  : "found") +
            ": " + words(one[Key::spec]) + " | " + words(one[Key::parameters]);
  }
  return text;
}

TEST_CASE("a chain of bindings is a spec, word by word") {
  CHECK(handlers({{"a.cc", R"(
Error Impl(cudaStream_t stream, ScratchAllocator scratch, State* state, AnyBuffer x,
           std::optional<AnyBuffer> bias, RemainingArgs more, Result<AnyBuffer> y, int64_t n,
           std::string_view mode, Span<const int32_t> axes, Config config);
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    H, Impl,
    ffi::Ffi::Bind()
        .Ctx<ffi::PlatformStream<cudaStream_t>>()
        .Ctx<ffi::ScratchAllocator>()
        .Ctx<ffi::State<State>>()
        .Arg<ffi::AnyBuffer>(/*x*/)
        .OptionalArg<ffi::AnyBuffer>()
        .RemainingArgs()
        .Ret<ffi::AnyBuffer>()
        .Attr<int64_t>("n")
        .Attr<std::string_view>("mode")
        .Attr<ffi::Span<const int32_t>>("axes")
        .Attr<Config>("config"));
)"}}) == "H execute: stream ctx.scratch ctx.state<State> arg arg? arg* ret attr.n:int64 "
         "attr.mode:string attr.axes:span<int32> attr.config:Config | stream ? ? arg ? arg* ret "
         "attr.n:int64 attr.mode:string attr.axes:span<int32> ?");
}

TEST_CASE("the stage of a handler is that of its chain") {
  CHECK(handlers({{"a.cc", R"(
XLA_FFI_DEFINE_HANDLER(A, f, ffi::Ffi::BindInstantiate().Attrs());
XLA_FFI_DEFINE_HANDLER(B, f, ffi::Ffi::Bind<ffi::ExecutionStage::kPrepare>().RemainingArgs());
XLA_FFI_DEFINE_HANDLER(C, f, FFI::Bind<FFI_Initialize>().RemainingRets());
XLA_FFI_DEFINE_HANDLER(D, f, FFI::Bind<Other>());
XLA_FFI_DEFINE_HANDLER_AUTO(E, f);
)"}}) == "A instantiate: attr.* | not said\n"
         "B prepare: arg* | not said\n"
         "C initialize: ret* | not said\n"
         "D ?:  | not said\n"
         "E ?: not said | not said");
}

TEST_CASE("macros of the project may make the chain or a part of it") {
  CHECK(handlers({{"a.cc", R"(
#define BUFFERS .Arg<AnyBuffer>().Ret<AnyBuffer>()
#define DEFINE(name, type) \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name, Run<type>, ffi::Ffi::Bind() BUFFERS.Attr<type>("alpha"))
DEFINE(OpF32, float);
DEFINE(OpF64, double);
)"}}) == "OpF32 execute: arg ret attr.alpha:float32 | not said\n"
         "OpF64 execute: arg ret attr.alpha:float64 | not said");
}

TEST_CASE("what is no chain of bindings is not said") {
  const std::string text = handlers({{"a.cc", R"(
XLA_FFI_DEFINE_HANDLER(A, f, binding);
XLA_FFI_DEFINE_HANDLER(B, f, ffi::Ffi::Bind().Arg<X>().Unknown<Y>());
XLA_FFI_DEFINE_HANDLER(C, f, ffi::Ffi::Bind().Attr<int>(name));
XLA_FFI_DEFINE_HANDLER(D, f, GridBinding().Arg<X>());
XLA_FFI_DEFINE_HANDLER(E, f, ffi::Ffi::Bind().Arg<X>() + more);
)"}});
  CHECK(text ==
        "A ?: not said | not said\nB execute: not said | not said\nC execute: not said | not said\n"
        "D ?: not said | not said\nE execute: not said | not said");
}

TEST_CASE("overloads leave open what differs between them") {
  CHECK(handlers({{"a.cc",
                   "Error f(AnyBuffer x, float a);\nError f(AnyBuffer x, double a);\n"
                   "XLA_FFI_DEFINE_HANDLER(A, f, Ffi::Bind());\n"}}) == "A execute:  | arg ?");
}

TEST_CASE("tables of stages are targets of the outer table") {
  CHECK(targets({{"a.cc", R"(
nb::dict Registrations() {
  nb::dict dict;
  nb::dict stages;
  stages["instantiate"] = EncapsulateFfiHandler(Make);
  stages["execute"] = EncapsulateFfiHandler(cuda::Run);
  dict["one"] = stages;
  dict["again"] = stages;
  dict["two"] = pybind11::dict(pybind11::arg("prepare") = EncapsulateFFI(Prepare),
                               pybind11::arg("execute") = EncapsulateFFI(Execute));
  dict["three"] = EncapsulateFfiHandler(Plain);
  return dict;
}
)"}}) == "three Plain (not said)\n"
         "two Execute (prepare execute)\n"
         "one Run (instantiate execute)\n"
         "again Run (instantiate execute)");
}

TEST_CASE("a table of stages that is handed out as it is names no target") {
  CHECK(targets({{"a.cc", R"(
void f() {
  nb::dict d;
  d["execute"] = EncapsulateFfiHandler(Run);
  return d;
}
void g() { nb::dict d; other["x"] = d; }
)"}}).empty());
}

TEST_CASE("a key that each build spells otherwise is one target for each") {
  CHECK(targets({{"vendor.h", R"(
#if defined(CUDA)
#define PREFIX "cu"
#elif defined(HIP)
#define PREFIX "hip"
#endif
)"},
                 {"a.cc", R"(
#include "vendor.h"
void f() { d[PREFIX "solve"] = EncapsulateFfiHandler(Solve); }
)"}}) == "cusolve Solve (not said) if defined(CUDA)\n"
         "hipsolve Solve (not said) if !defined(CUDA) && defined(HIP)");
}

TEST_CASE("capsules of handlers are targets, others are not") {
  CHECK(targets({{"a.cc", R"(
XLA_FFI_DEFINE_HANDLER(Norm, NormImpl, ffi::Ffi::Bind().Arg<AnyBuffer>());
NB_MODULE(m, m) {
  d["norm"] = nb::capsule(reinterpret_cast<void*>(Norm));
  d["type"] = nb::capsule(reinterpret_cast<void*>(&State::id));
}
)"}}) == "norm Norm (execute)");
}

TEST_CASE("Python names the symbol of a library that it loads itself") {
  CHECK(targets({{"a.cc", "XLA_FFI_DEFINE_HANDLER_SYMBOL(Foo, F, Ffi::BindPrepare());\n"},
                 {"a.py",
                  "import jax\n"
                  "jax.ffi.register_ffi_target('foo', jax.ffi.pycapsule(lib.Foo))\n"
                  "jax.ffi.register_ffi_target('bar', jax.ffi.pycapsule(libs['x'].Bar))\n"
                  "jax.ffi.register_ffi_target('baz', make(lib.Baz))\n"}}) ==
        "foo Foo (prepare)\nbar ? (not said)\nbaz ? (not said)");
}

TEST_CASE("values of attributes have the type that XLA gets") {
  CHECK(calls(R"(
import jax
import numpy as np
from jax.ffi import ffi_lowering
class Op:
    name = "op"
def f(x, n, **more):
    jax.ffi.ffi_call("op", x)(x, x, a=np.float32(n), b=1, c=1.5, d=True, e="s", f=int(n), g=n,
                              h=np.array([1], dtype=np.int32), i=np.arange(n), j=-1, k=float(n))
    jax.ffi.ffi_call("op", x)(x, **more)
    jax.ffi.ffi_call("op", x, custom_call_api_version=1)(x)
    return jax.ffi.ffi_call(Op.name, x)
def lowering(ctx, x):
    return ffi_lowering("op")(ctx, x, a=np.uint64(1))
)") == "op 2 a=float32 b=int64 c=float64 d=bool e=string f=int64 g=? h=span<int32> i=? j=int64 "
       "k=float64\nop\nop\nop\nop 1 a=uint64");
}

TEST_CASE("what a look-up returns may be kept in a variable and called once") {
  CHECK(calls(R"(
import jax
def f(x):
    call = jax.ffi.ffi_call("op", x)
    def inner(y):
        return call(y, y, n=1)
    return inner
def g(x):
    call = jax.ffi.ffi_call("op", x)
    return jax.jit(call)(x)
def twice(x):
    call = jax.ffi.ffi_call("op", x)
    return call(x), call(x, n=1)
def rebound(x):
    call = jax.ffi.ffi_call("op", x)
    call = wrap(call)
    return call(x)
)") == "op 2 n=int64\nop 1\nop\nop");
}

TEST_CASE("handlers may be objects that a function with the call frame keeps") {
  CHECK(handlers({{"a.cc", R"(
inline auto MakeBinding() { return ffi::Ffi::Bind().Arg<AnyBuffer>().Ret<AnyBuffer>(); }
#define DEFINE(name, binding, impl)                                          \
  static constexpr XLA_FFI_Handler* name = +[](XLA_FFI_CallFrame* frame) {    \
    static auto* handler = binding().To(impl).release();                      \
    return handler->Call(frame);                                              \
  }
DEFINE(first, MakeBinding, Run<float>);
extern "C" XLA_FFI_Error* second(XLA_FFI_CallFrame* frame) {
  static auto* kImpl = ffi::Ffi::Bind().Attr<float>("eps").To([](int32_t eps) { return Run(eps); }).release();
  return kImpl->Call(frame);
}
static const auto* third = Ffi::BindPrepare().RemainingArgs().To(Run).release();
void other() { device.To(host); Make().To(x); }
)"}}) == "first execute: arg ret | not said\n"
         "second execute: attr.eps:float32 | attr.eps:int32\n"
         "third prepare: arg* | not said");
}

TEST_CASE("a project's own function of the framework's name says less") {
  const Facts facts =
      read_sources({{"a.cc", "XLA_FFI_DEFINE_HANDLER_SYMBOL(Foo, F, Ffi::Bind());\n"},
                    {"a.py",
                     "from .registry import register_ffi_target\n"
                     "register_ffi_target('Foo', 'ROCM')\n"}});
  const Fact list = manifest_of(facts, "jax")[Key::targets];
  REQUIRE(list.size() == 1);
  const Fact target = *list.items().begin();
  CHECK(target[Key::symbol].is("Foo"));
  CHECK(target[Key::spec].is_list());
  CHECK(!target[Key::platform].said());
  CHECK(!target[Key::api_version].said());
}

TEST_CASE("of handlers of one name that of the target's file is meant") {
  const Facts facts =
      read_sources({{"cpu.cc",
                     "XLA_FFI_DEFINE_HANDLER(H, F, Ffi::Bind().Arg<X>());\n"
                     "void f() { d[\"cpu\"] = EncapsulateFfiHandler(H); }\n"},
                    {"gpu.cc",
                     "XLA_FFI_DEFINE_HANDLER(H, F, Ffi::Bind().Ret<X>());\n"
                     "void f() { d[\"gpu\"] = EncapsulateFfiHandler(H); }\n"},
                    {"other.cc", "void f() { d[\"x\"] = EncapsulateFfiHandler(H); }\n"}});
  std::string text;
  for (const Fact target : manifest_of(facts, "jax")[Key::targets].items()) {
    text += std::string(target[Key::name].text()) + ": " + words(target[Key::spec]) + "\n";
  }
  CHECK(text == "cpu: arg\ngpu: ret\nx: not said\n");
}

TEST_CASE("targets that come with jaxlib are not looked for") {
  CHECK(calls("import jax\njax.ffi.ffi_call('lapack_sgetrf_ffi', x)(x)\n"
              "jax.ffi.ffi_call('mine', x)(x)\n") == "mine 1");
}

TEST_CASE("tvm-ffi: global functions, and those that are asked for") {
  const Facts facts = read_sources({{"a.cc", R"(
TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef()
      .def("demo.add_one", AddOne)
      .def_packed("demo.sum", [](ffi::PackedArgs args, ffi::Any* rv) { *rv = args.size(); });
}
TVM_REGISTER_GLOBAL("demo.old").set_body_typed(Old);
PYBIND11_MODULE(m, m) { m.def("no_function", f); }
)"},
                                    {"a.py", R"(
import tvm_ffi
@tvm_ffi.register_global_func("demo.echo")
def echo(x): return x
tvm_ffi.get_global_func("demo.echo")
tvm_ffi.get_global_func("demo.add_on")
tvm_ffi.get_global_func("demo.add_on", allow_missing=True)
tvm_ffi.get_global_func("others.function")
)"}});
  const Fact tvm = manifest_of(facts, "tvm-ffi");
  std::string text;
  for (const Fact op : tvm[Key::operators].items()) {
    text +=
        std::string(op[Key::name].text()) + " " + std::string(op[Key::defined_in].text()) + ", ";
  }
  for (const Fact dispatch : tvm[Key::dispatch].items()) {
    text += "asks for " + std::string(dispatch[Key::operator_].text()) + ", ";
  }
  CHECK(text ==
        "demo.add_one native, demo.sum native, demo.old native, demo.echo python, "
        "asks for demo.echo, asks for demo.add_on, ");
}

TEST_CASE("announced functions are found behind macros that paste their names") {
  CHECK(annotations(
            {{"common.cuh", "#define SIG(name) void name(const BE::Tensor x, BE::Tensor y)\n"},
             {"a.cu", R"(
#include "common.cuh"
#define FFI(SUFFIX, T) \
  void add##SUFFIX(const BE::Tensor a, BE::Tensor out, float scale, int64_t stream) { }
// @BE add_f32
FFI(_f32, float)
// @BE add_f64 arg ret attr.scale stream
FFI(_f64, double)
// @BE add_i8
FFI(_int8, char)
// @BE scaled
SIG(scaled) { run(); }
// @BE pointers
void pointers(const BE::Tensor x, float* p, BE::Tensor y) { run(); }
// @BE unknown
UNKNOWN_MACRO(unknown)
// @BEnot this
//@BE tight arg,ret
void tight(const BE::Tensor x, BE::Tensor y) {}
)"}}) == "add_f32 found: not said | arg ret attr.scale:float32 stream\n"
         "add_f64 found: arg ret attr.scale stream | arg ret attr.scale:float32 stream\n"
         "add_i8 missing: not said | not said\n"
         "scaled found: not said | arg ret\n"
         "pointers found: not said | arg ? ret\n"
         "unknown ?: not said | not said\n"
         "tight found: arg,ret | arg ret");
}

}  // namespace
}  // namespace opseal::test
