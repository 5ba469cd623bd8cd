// Registrations as sources of torch, XLA, ONNX Runtime, TensorFlow and others write them.

#include <doctest/doctest.h>

#include <string>

#include "tests/source_reader.h"

namespace opseal::test {
namespace {

std::string found_in(const std::string& text) { return SourceReader(text).invocations(); }

// The calls of a chain: `Arg<T>(x) Ret<U>()`.
std::string chain_of(Tokens tokens) {
  std::string text;
  for (const ChainLink& link : read_chain(tokens)) {
    if (!text.empty()) text += ' ';
    text += link.name;
    if (!link.template_arguments.empty()) text += "<" + text_of(link.template_arguments) + ">";
    text += "(" + text_of(link.arguments) + ")";
  }
  return text;
}

std::string kind_of(const Scope& scope) {
  switch (scope.kind) {
    case ScopeKind::name_space:
      return "namespace";
    case ScopeKind::linkage:
      return "linkage";
    case ScopeKind::type:
      return "type";
    case ScopeKind::function:
      return "function";
    case ScopeKind::lambda:
      return "lambda";
    case ScopeKind::macro_block:
      return "block";
    case ScopeKind::other:
      return "other";
  }
  return "";
}

std::string scopes_of(const std::string& text) {
  const SourceReader reader(text);
  std::string list;
  for (const Scope& scope : reader.found.scopes) {
    list += kind_of(scope);
    if (!scope.name.empty()) list += " " + scope.name;
    list += "; ";
  }
  return list;
}

}  // namespace

TEST_CASE("blocks of torch hold definitions and implementations") {
  CHECK(found_in(R"(
TORCH_LIBRARY_FRAGMENT(ns, lib)
{
  lib.def("a(Tensor x, "
          "int y) -> Tensor", {at::Tag::pt2_compliant_tag});
  lib.impl("a", torch::kCUDA, &a_cuda);
}
TORCH_LIBRARY_IMPL(ns, CPU, m) {
  m.impl(TORCH_SELECTIVE_NAME("ns::x"), TORCH_FN((&fn<int, float>)));
  m.impl("y", torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(y)));
  m.impl("z", [](const at::Tensor& t) { return t; });
  m.impl("w", a < b, c > d, static_cast<int (*)(A<B, C>)>(&w<1, (2 > 1)>));
  m.fallback(torch::CppFunction::makeFallthrough());
  helper(m);
}
)") == R"(TORCH_LIBRARY_FRAGMENT[ns][lib]
lib.def["a(Tensor x, " "int y) -> Tensor"][{at::Tag::pt2_compliant_tag}] in TORCH_LIBRARY_FRAGMENT
lib.impl["a"][torch::kCUDA][&a_cuda] in TORCH_LIBRARY_FRAGMENT
TORCH_LIBRARY_IMPL[ns][CPU][m]
m.impl["ns::x"][TORCH_FN((&fn<int, float>))] in TORCH_LIBRARY_IMPL
m.impl["y"][torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(y))] in TORCH_LIBRARY_IMPL
m.impl["z"][[](const at::Tensor& t) { return t; }] in TORCH_LIBRARY_IMPL
m.impl["w"][a < b][c > d][static_cast<int (*)(A<B, C>)>(&w<1, (2 > 1)>)] in TORCH_LIBRARY_IMPL
m.fallback[torch::CppFunction::makeFallthrough()] in TORCH_LIBRARY_IMPL
)");
}

TEST_CASE("a block knows its body, and a project's own library macro gives one") {
  const SourceReader reader(
      "#define OWN_LIBRARY(ns, m)                                \\\n"
      "  static void init_##ns(torch::Library&);                 \\\n"
      "  static const torch::detail::TorchLibraryInit ns##_init( \\\n"
      "      torch::Library::FRAGMENT, &init_##ns, #ns);         \\\n"
      "  void init_##ns(torch::Library& m)\n"
      "OWN_LIBRARY(own, m) {\n  m.def(\"a() -> ()\");\n}\n"
      "STABLE_TORCH_LIBRARY(s, m) { m.def(\"b() -> ()\"); }\n");
  CHECK(reader.invocations() ==
        "m.def[\"a() -> ()\"] in init_own()\n"
        "STABLE_TORCH_LIBRARY[s][m]\n"
        "m.def[\"b() -> ()\"] in STABLE_TORCH_LIBRARY\n");
  const Invocation& block = reader.found.list[1];
  REQUIRE(block.has_body);
  const Tokens body =
      Tokens(reader.unit.tokens).subspan(block.body.begin, block.body.end - block.body.begin);
  CHECK(text_of(body) == "m.def(\"b() -> ()\");");
}

TEST_CASE("a function that takes a library tells its parameters") {
  const SourceReader reader(
      "namespace a { static void add(int x, torch::Library& lib) { lib.impl(\"x\", f); } }\n");
  REQUIRE(reader.found.list.size() == 1);
  const Scope* function = reader.found.enclosing(reader.found.list[0].scope, ScopeKind::function);
  REQUIRE(function != nullptr);
  CHECK(function->name == "add");
  const TokenRange range = function->parameters;
  CHECK(text_of(Tokens(reader.unit.tokens).subspan(range.begin, range.end - range.begin)) ==
        "int x, torch::Library& lib");
  CHECK(reader.found.qualifier(reader.found.list[0].scope) == "a");
}

TEST_CASE("the older registration of torch is a chain or a declaration") {
  CHECK(found_in("static auto r = torch::RegisterOperators()\n"
                 "    .op(\"a::x\", &x)\n    .op(\"a::y\", torch::RegisterOperators::options()"
                 ".kernel<decltype(y), &y>(K));\n"
                 "torch::RegisterOperators reg(\"a::z(Tensor t) -> Tensor\", &z);\n") ==
        "RegisterOperators\n"
        "RegisterOperators().op[\"a::x\"][&x]\n"
        "op().op[\"a::y\"][torch::RegisterOperators::options().kernel<decltype(y), &y>(K)]\n"
        "reg.RegisterOperators[\"a::z(Tensor t) -> Tensor\"][&z]\n");
}

TEST_CASE("classes of torch and modules of pybind11 and nanobind have definitions of their own") {
  CHECK(found_in("TORCH_LIBRARY(a, m) {\n  m.class_<Foo<int, 2>>(\"Foo\")\n"
                 "    .def(torch::init<int>())\n    .def_static(\"make\", &make);\n}\n"
                 "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"f\", &f, \"doc\"); }\n"
                 "NB_MODULE(_x, m) { m.def(\"g\", g); }\n") ==
        "TORCH_LIBRARY[a][m]\n"
        "m.class_[\"Foo\"] in TORCH_LIBRARY\n"
        "class_().def[torch::init<int>()] in TORCH_LIBRARY\n"
        "def().def_static[\"make\"][&make] in TORCH_LIBRARY\n"
        "PYBIND11_MODULE[TORCH_EXTENSION_NAME][m]\n"
        "m.def[\"f\"][&f][\"doc\"] in PYBIND11_MODULE\n"
        "NB_MODULE[_x][m]\n"
        "m.def[\"g\"][g] in NB_MODULE\n");
}

TEST_CASE("handlers of XLA have a chain with template arguments, and stages in braces") {
  const SourceReader reader(R"(
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    kSolve, SolveImpl,
    ffi::Ffi::Bind()
        .Ctx<ffi::PlatformStream<gpuStream_t>>()
        .Arg<ffi::Buffer<ffi::F32, 2>>()
        .RemainingArgs()
        .Ret<std::pair<int, Foo<(1 > 0), 3>>>()
        .Attr<int64_t>("axis"),
    {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_REGISTER_HANDLER(GetXlaFfiApi(), "solve", "CUDA",
                         {nullptr, kPrepare, nullptr, kSolve});
)");
  REQUIRE(reader.found.list.size() == 2);
  const Invocation& handler = reader.found.list[0];
  CHECK(text_of(handler.arguments[1]) == "SolveImpl");
  // Commas of template arguments divide for the preprocessor, too; real headers take the rest.
  const std::string text = reader.invocations();
  CHECK(text.find("XLA_FFI_REGISTER_HANDLER[GetXlaFfiApi()][\"solve\"][\"CUDA\"]"
                  "[{nullptr, kPrepare, nullptr, kSolve}]") != text.npos);
  const Tokens inside =
      Tokens(reader.unit.tokens).subspan(handler.open + 1, handler.close - handler.open - 1);
  CHECK(chain_of(inside.subspan(4)) ==
        "Ctx<ffi::PlatformStream<gpuStream_t>>() Arg<ffi::Buffer<ffi::F32, 2>>() "
        "RemainingArgs() Ret<std::pair<int, Foo<(1 > 0), 3>>>() Attr<int64_t>(\"axis\")");
}

TEST_CASE("registrations of jaxlib's dictionaries are where they are encapsulated") {
  CHECK(found_in("#define JAX_GPU_PREFIX \"cu\"\nnb::dict Registrations() {\n  nb::dict dict;\n"
                 "  dict[JAX_GPU_PREFIX \"solver_x\"] = EncapsulateFfiHandler(kX);\n"
                 "  dict[\"y\"] = nb::dict(nb::arg(\"execute\") = EncapsulateFunction(Y));\n"
                 "  return dict;\n}\n") ==
        "EncapsulateFfiHandler[kX] in Registrations()\n"
        "EncapsulateFunction[Y] in Registrations()\n");
}

TEST_CASE("kernels of ONNX Runtime come through macros, with commas in the class") {
  CHECK(found_in("#define REG(T, n) \\\n  ONNX_OPERATOR_TYPED_KERNEL_EX(Gelu, kMSDomain, 1, T, "
                 "kCuda, (*KernelDefBuilder::Create()).MayInplace(0, 0), Gelu<T, n>);\n"
                 "REG(float, 3)\nREG(MLFloat16, 4)\n") ==
        "ONNX_OPERATOR_TYPED_KERNEL_EX[Gelu][kMSDomain][1][float][kCuda]"
        "[(*KernelDefBuilder::Create()).MayInplace(0, 0)][Gelu<float][3>] via REG\n"
        "ONNX_OPERATOR_TYPED_KERNEL_EX[Gelu][kMSDomain][1][MLFloat16][kCuda]"
        "[(*KernelDefBuilder::Create()).MayInplace(0, 0)][Gelu<MLFloat16][4>] via REG\n");
}

TEST_CASE("operators of TensorFlow are a chain, their kernels a builder") {
  const SourceReader reader(
      "REGISTER_OP(\"Resample\")\n  .Input(\"data: T\")\n  .Attr(\"T: {half, float}\")\n"
      "  .SetShapeFn([](InferenceContext* c) { c->set(c.x().y()); return OkStatus(); });\n"
      "REGISTER_KERNEL_BUILDER(Name(\"Resample\").Device(DEVICE_GPU), Op<float>);\n"
      "EXECUTORCH_LIBRARY(ns, \"x.out\", fn);\n");
  REQUIRE(reader.found.list.size() == 3);
  const Invocation& op = reader.found.list[0];
  const Tokens behind = Tokens(reader.unit.tokens).subspan(op.close + 1);
  CHECK(chain_of(behind) ==
        "Input(\"data: T\") Attr(\"T: {half, float}\") SetShapeFn([](InferenceContext* c) "
        "{ c->set(c.x().y()); return OkStatus(); })");
  CHECK(text_of(reader.found.list[1].arguments[0]) == "Name(\"Resample\").Device(DEVICE_GPU)");
  CHECK(text_of(reader.found.list[2].arguments[1]) == "\"x.out\"");
}

TEST_CASE("conditions between brackets give one invocation for each choice") {
  CHECK(found_in("void f() {\n  m.def(\"a(\"\n#ifdef A\n    \"int x\"\n#else\n    \"float x\"\n"
                 "#endif\n    \")\");\n"
                 "  m.impl(\"b\",\n#if B\n    b_fast\n#endif\n  );\n}\n") ==
        "m.def[\"a(\" \"int x\" \")\"] if defined(A) in f()\n"
        "m.def[\"a(\" \"float x\" \")\"] if !defined(A) in f()\n"
        "m.impl[\"b\"][b_fast] if B in f()\n"
        "m.impl[\"b\"][] if !B in f()\n");
}

TEST_CASE("conditions within braces do not divide an invocation") {
  CHECK(found_in(
            "m.impl(\"a\", [](Tensor x) {\n#ifdef A\n  one();\n#else\n  two();\n#endif\n});\n") ==
        "m.impl[\"a\"][[](Tensor x) { one(); two(); }]\n");
}

TEST_CASE("a registration has the conditions it stands in") {
  CHECK(found_in("#ifdef USE_ROCM\nTORCH_LIBRARY_IMPL(a, CUDA, m) {\n#if !defined(X)\n"
                 "  m.impl(\"x\", x);\n#endif\n}\n#endif\n") ==
        "TORCH_LIBRARY_IMPL[a][CUDA][m] if defined(USE_ROCM)\n"
        "m.impl[\"x\"][x] if defined(USE_ROCM) && !defined(X) in TORCH_LIBRARY_IMPL\n");
}

TEST_CASE("braces match though branches open or close them unevenly") {
  const std::string body = "  m.impl(\"x\", x);\n";
  const std::string after = "void g() { m.impl(\"y\", y); }\n";
  const std::string last = "m.impl[\"y\"][y] in g()\n";
  // Both branches open, one brace closes.
  CHECK(found_in("#ifdef A\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n" + body + "}\n" + after) ==
        "m.impl[\"x\"][x] in f()\n" + last);
  // One brace, closed in both branches.
  CHECK(found_in("void f() {\n" + body + "#ifdef A\n  a();\n}\n#else\n  b();\n}\n#endif\n" +
                 after) == "m.impl[\"x\"][x] in f()\n" + last);
  // Only one branch has a brace, which a later one of the same condition closes.
  CHECK(found_in("#ifdef __cplusplus\nextern \"C\" {\n#endif\nvoid f() {\n" + body +
                 "}\n#ifdef __cplusplus\n}\n#endif\n" + after) ==
        "m.impl[\"x\"][x] in f()\n" + last);
  // A condition within a condition.
  CHECK(found_in("void f() {\n#if A\n  if (a) {\n#if B\n    b();\n  }\n#else\n    c();\n  }\n"
                 "#endif\n#endif\n" +
                 body + "}\n" + after) == "m.impl[\"x\"][x] in f()\n" + last);
  // `else` of the language begins in a branch.
  CHECK(found_in("void f() {\n#if A\n  if (a) {\n    b();\n  } else\n#endif\n  {\n" + body +
                 "  }\n}\n" + after) == "m.impl[\"x\"][x] in f()\n" + last);
  // A bracket that nothing closes ends with the braces around it.
  CHECK(found_in("void f() { g(; }\n" + after) == last);
  CHECK(found_in("void f() { ) ] }\n" + after) == last);
}

TEST_CASE("scopes are told by what stands before their braces") {
  CHECK(scopes_of("namespace a::b { inline namespace v1 { namespace { } } }") ==
        "namespace a::b; namespace v1; namespace; ");
  CHECK(scopes_of("extern \"C\" { }") == "linkage; ");
  CHECK(scopes_of("template <class T, typename U> struct API A<T> final : public B<U> { };") ==
        "type A; ");
  CHECK(scopes_of("enum class E : int { a }; class C::D { };") == "type E; type C::D; ");
  CHECK(scopes_of("static std::vector<int> A::run(int x) const noexcept { }") ==
        "function A::run; ");
  CHECK(scopes_of("A::A(int x) : a(x), b(x, 2) { } A::~A() { }") ==
        "function A::A; function A::~A; ");
  CHECK(scopes_of(
            "template <typename T> __global__ void __launch_bounds__(256, 2) kernel(T* x) { }") ==
        "function kernel; ");
  CHECK(scopes_of("int A::run(int x) MY_NOEXCEPT { } void f() const MY_NOEXCEPT override { } "
                  "MY_API(x) void g() { }") == "function A::run; function f; function g; ");
  CHECK(scopes_of("__attribute__((x)) void f() { } struct S g() { } auto h() -> int { }") ==
        "function f; function g; function h; ");
  CHECK(scopes_of("bool operator==(A a, A b) { } void operator()(int x) const { }") ==
        "function operator==; function operator(); ");
  CHECK(scopes_of("void f() { if (a) { } for (;;) { } else { } do { } while (x); try { } "
                  "catch (E& e) { } switch (x) { } }") ==
        "function f; other; other; other; other; other; other; other; ");
  CHECK(scopes_of("auto f = [&, x](int a) mutable -> int { }; g([] { }); return [=]() { };") ==
        "lambda; lambda; lambda; ");
  CHECK(scopes_of("int a[] = {1, {2, 3}, f(x), {4}}; A b{1}; return {1};") ==
        "other; other; other; other; other; ");
}

TEST_CASE("the comment above a function is found with the token that follows it") {
  const SourceReader reader("int x;\n// opseal: predicate(cuda)\nbool f() { return true; }\n");
  REQUIRE(reader.unit.comments.size() == 1);
  CHECK(reader.unit.tokens[reader.unit.comments[0].next_token].text == "bool");
}

}  // namespace opseal::test
