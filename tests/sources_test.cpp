// What trees of sources say, as facts: the shapes in which projects register.

#include "opseal/sources.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzers/sources/load.h"
#include "cli/tiers.h"
#include "opseal/registration.h"
#include "rules/rules.h"
#include "tests/source_folder.h"

namespace opseal::test {
namespace {

Fact operator_of(const Facts& facts, std::string_view name) {
  return named(manifest_of(facts, "torch")[Key::operators], name);
}

// `CUDA f(2)`: platform, function and its parameters, of each kernel.
std::string kernels(const Fact& op) {
  std::string text;
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!text.empty()) text += ' ';
    text += kernel[Key::platform].text("?");
    if (kernel[Key::fallthrough].truth()) text += " fallthrough";
    const Fact function = kernel[Key::function];
    if (!function.said()) continue;
    text += ' ' + std::string(function[Key::name].text());
    if (function[Key::positional].is_count()) {
      text += '(' + std::to_string(function[Key::positional].count()) + ')';
    }
  }
  return text;
}

// What one statement in a block of `demo` registers on `f`.
std::string kernels_by(const std::string& statement) {
  const Facts facts =
      read_sources({{"ops.cpp",
                     "namespace cpu { Tensor f(const Tensor& x, std::map<int, int> y = {}); }\n"
                     "TORCH_LIBRARY(demo, m) {\n" +
                         statement + "\n}\n"}});
  return kernels(operator_of(facts, "demo::f"));
}

}  // namespace

TEST_CASE("a kernel of torch is found however it is handed over") {
  CHECK(kernels_by("m.impl(\"f\", torch::kCUDA, &cpu::f);") == "CUDA cpu::f(2)");
  CHECK(kernels_by("m.impl(\"f\", c10::DispatchKey::AutocastCPU, cpu::f);") ==
        "AutocastCPU cpu::f(2)");
  CHECK(kernels_by("m.impl(\"f\", cpu::f);") == "CompositeImplicitAutograd cpu::f(2)");
  CHECK(kernels_by("m.impl(TORCH_SELECTIVE_NAME(\"demo::f\"), TORCH_FN(cpu::f));") ==
        "CompositeImplicitAutograd cpu::f(2)");
  CHECK(kernels_by("m.impl(\"f\", TORCH_FN((&g<float, 3>)));") == "CompositeImplicitAutograd g");
  CHECK(kernels_by("m.impl(\"f\", torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(cpu::f)));") ==
        "Meta cpu::f(2)");
  CHECK(kernels_by("m.impl(\"f\", torch::kCPU, TORCH_BOX(&cpu::f));") == "CPU cpu::f(2)");
  CHECK(kernels_by("m.impl(\"f\", torch::kCPU, WRAP_TO_ATEN(cpu::f, 2));") == "CPU cpu::f(2)");
  CHECK(kernels_by("m.impl(\"f\", torch::kCPU, [](Tensor a, Tensor b, int c) { return a; });") ==
        "CPU lambda(3)");
  CHECK(kernels_by("m.impl(\"f\", torch::kCPU, static_cast<Tensor (*)(Tensor)>(&g));") ==
        "CPU g(1)");
  CHECK(kernels_by("m.impl(\"f\", torch::kCPU, torch::CppFunction::makeFallthrough());") ==
        "CPU fallthrough");
  CHECK(kernels_by("m.def(\"f(Tensor x, int y) -> Tensor\", {at::Tag::pt2_compliant_tag}, "
                   "&cpu::f);") == "CompositeImplicitAutograd cpu::f(2)");
}

TEST_CASE("a definition of torch is found however its schema is written") {
  const auto schema_by = [](const std::string& statement) {
    const Facts facts =
        read_sources({{"ops.cpp", "#define EXTRA \", int z\"\nTORCH_LIBRARY(demo, m)\n{\n" +
                                      statement + "\n}\n"}});
    return std::string(operator_of(facts, "demo::f.out")[Key::schema].text("none"));
  };
  const std::string schema = "demo::f.out(Tensor x, str y=\"(\") -> Tensor";
  CHECK(schema_by("m.def(\"f.out(Tensor x, \" \"str y=\\\"(\\\") -> Tensor\");") == schema);
  CHECK(schema_by("m.def(R\"(f.out(Tensor x, str y=\"(\") -> Tensor)\");") == schema);
  CHECK(schema_by("m.def(TORCH_SELECTIVE_SCHEMA(\"demo::f.out(Tensor x, str y=\\\"(\\\") -> "
                  "Tensor\"));") == schema);
  CHECK(schema_by("m.def(torch::schema(\"f.out(Tensor x, str y=\\\"(\\\") -> Tensor\", "
                  "c10::AliasAnalysisKind::PURE_FUNCTION));") == schema);
  CHECK(schema_by("m.def(\"f.out(Tensor x\" EXTRA \") -> Tensor\");") ==
        "demo::f.out(Tensor x, int z) -> Tensor");
  // The name is known, the schema isn't.
  CHECK(schema_by("m.def(\"f.out(Tensor x, int size=\" STRING(SIZE) \") -> Tensor\");") == "none");
}

TEST_CASE("a function that takes a library registers in the blocks that call it") {
  const Facts facts =
      read_sources({{"a.cpp",
                     "void inner(torch::Library& m) { m.impl(\"f\", &f); }\n"
                     "void outer(torch::Library &lib) { inner(lib); }\n"},
                    {"b.cpp",
                     "TORCH_LIBRARY(demo, m) { m.def(\"f(Tensor x) -> Tensor\"); }\n"
                     "#ifdef WITH_GPU\n"
                     "TORCH_LIBRARY_IMPL(demo, CUDA, m) { outer(m); }\n"
                     "#endif\n"}});
  const Fact op = operator_of(facts, "demo::f");
  CHECK(kernels(op) == "CUDA f");
  for (const Fact kernel : op[Key::kernels].items()) {
    CHECK(kernel[Key::when].text() == "defined(WITH_GPU)");
    CHECK(facts.files[kernel.where().file].path == "a.cpp");
  }
}

TEST_CASE("a project's own macro for a library says the namespace and the key as torch's does") {
  const Facts facts =
      read_sources({{"library.h",
                     "#define MY_LIBRARY_IMPL(ns, k, m) \\\n"
                     "  static void init_##ns##_##k(torch::Library&); \\\n"
                     "  static const torch::detail::TorchLibraryInit init_##ns##k( \\\n"
                     "      torch::Library::IMPL, &init_##ns##_##k, #ns, c10::DispatchKey::k); \\\n"
                     "  void init_##ns##_##k(torch::Library& m)\n"},
                    {"ops.cpp",
                     "#include \"library.h\"\n"
                     "TORCH_LIBRARY(demo, m) { m.def(\"f(Tensor x) -> Tensor\"); }\n"
                     "MY_LIBRARY_IMPL(demo, CPU, m) { m.impl(\"f\", &g); }\n"}});
  CHECK(kernels(operator_of(facts, "demo::f")) == "CPU g");
}

TEST_CASE("an older registry object defines and implements at once") {
  const Facts facts =
      read_sources({{"ops.cpp",
                     "static auto registry = torch::RegisterOperators()\n"
                     "  .op(\"demo::f\", &f).op(\"demo::g(Tensor x) -> Tensor\", &g);\n"
                     "static torch::RegisterOperators more(\"demo::h\", &h);\n"}});
  CHECK(kernels(operator_of(facts, "demo::f")) == "CompositeImplicitAutograd f");
  CHECK(operator_of(facts, "demo::g")[Key::schema].is("demo::g(Tensor x) -> Tensor"));
  CHECK(kernels(operator_of(facts, "demo::h")) == "CompositeImplicitAutograd h");
}

TEST_CASE("methods of a class and functions of a Python module are no operators") {
  const Facts facts = read_sources(
      {{"ops.cpp",
        "TORCH_LIBRARY(demo, m) {\n"
        "  m.class_<Sampler>(\"Sampler\").def(torch::init<>()).def(\"sample\", &sample);\n"
        "  m.def(\"f(Tensor x) -> Tensor\");\n}\n"
        "PYBIND11_MODULE(demo, m) { m.def(\"g\", &g); }\n"}});
  CHECK(manifest_of(facts, "torch")[Key::operators].size() == 1);
}

TEST_CASE("one operator has kernels and shape functions of both languages") {
  const Facts facts = read_sources(
      {{"ops.cpp", "TORCH_LIBRARY_FRAGMENT(demo, m) { m.def(\"f(Tensor x) -> Tensor\"); }\n"},
       {"ops.py",
        "import torch\n\n\n@torch.library.register_fake(\"demo::f\")\n"
        "def fake(x):\n    return x\n\n\n"
        "@torch.library.impl(\"demo::f\", \"CPU\")\ndef f(x):\n    return x\n"}});
  const Fact op = operator_of(facts, "demo::f");
  CHECK(kernels(op) == "CPU f(1)");
  CHECK(op[Key::abstract][Key::name].is("fake"));
  CHECK(op[Key::abstract][Key::positional].count() == 1);
  CHECK(facts.files[op[Key::abstract].where().file].path == "ops.py");
}

TEST_CASE("a helper that registers at once says for which platform only where it is told") {
  const Facts facts = read_sources(
      {{"ops.py",
        "from .library import direct_register_custom_op\nfrom torch.library import Library\n\n"
        "lib = Library(\"demo\", \"FRAGMENT\")\n\n\n"
        "def f(x: torch.Tensor) -> torch.Tensor:\n    return x\n\n\n"
        "direct_register_custom_op(op_name=\"told\", op_func=f, mutates_args=[], target_lib=lib, "
        "dispatch_key=\"XPU\")\n"
        "direct_register_custom_op(op_name=\"open\", op_func=f, mutates_args=[], "
        "target_lib=lib)\n"}});
  const Fact told = operator_of(facts, "demo::told")[Key::kernels];
  const Fact open = operator_of(facts, "demo::open")[Key::kernels];
  REQUIRE((told.size() == 1 && open.size() == 1));
  for (const Fact kernel : told.items()) CHECK(kernel[Key::platform].is("XPU"));
  for (const Fact kernel : open.items()) CHECK(!kernel[Key::platform].said());
}

TEST_CASE("a namespace that the build picks may be any") {
  const Facts facts = read_sources(
      {{"ops.cpp",
        "TORCH_LIBRARY_FRAGMENT(TORCH_EXTENSION_NAME, m) { m.def(\"f(Tensor x) -> Tensor\"); }\n"
        "TORCH_LIBRARY(demo, m) { m.def(\"g(Tensor x) -> Tensor\"); }\n"
        "TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl(\"f\", &f); m.impl(\"h\", &h); }\n"}});
  CHECK(operator_of(facts, "f")[Key::namespace_].is("TORCH_EXTENSION_NAME"));
  // It may be the one that is defined in the other namespace.
  CHECK(!operator_of(facts, "demo::f")[Key::schema].said());
  CHECK(operator_of(facts, "demo::h")[Key::schema].is_null());
}

TEST_CASE("nothing is absent in a part of a project") {
  const Sources sources = {{"ops.cpp",
                            "TORCH_LIBRARY(demo, m) { m.def(\"g(Tensor x) -> Tensor\"); }\n"
                            "TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl(\"f\", &f); }\n"}};
  const Facts whole = read_sources(sources);
  CHECK(operator_of(whole, "demo::f")[Key::schema].is_null());
  CHECK(operator_of(whole, "demo::g")[Key::abstract].is_null());
  CHECK(operator_of(whole, "demo::g")[Key::kernels].is_list());
  const Facts part = read_sources(sources, true);
  CHECK(is_partial_tree(manifest_of(part, "torch")));
  CHECK(!operator_of(part, "demo::f")[Key::schema].said());
  CHECK(!operator_of(part, "demo::g")[Key::abstract].said());
  CHECK(!operator_of(part, "demo::g")[Key::kernels].said());
}

TEST_CASE("what only the running code knows may be anything that is missing") {
  const std::string ops =
      "TORCH_LIBRARY(demo, m) { m.def(\"f(Tensor x) -> Tensor\"); }\n"
      "TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl(\"f\", &f); m.impl(\"other\", &other); }\n";
  const Facts known = read_sources({{"ops.cpp", ops}});
  CHECK(operator_of(known, "demo::f")[Key::abstract].is_null());
  CHECK(operator_of(known, "demo::other")[Key::schema].is_null());
  const Facts fakes = read_sources({{"fakes.py",
                                     "import torch\nfor name in names():\n"
                                     "    torch.library.register_fake(name)(fake)\n"},
                                    {"ops.cpp", ops}});
  CHECK(!operator_of(fakes, "demo::f")[Key::abstract].said());
  CHECK(operator_of(fakes, "demo::other")[Key::schema].is_null());
  CHECK(manifest_of(fakes, "torch")[Key::tree][Key::undecided].size() == 1);
  const Facts more = read_sources(
      {{"more.cpp", "TORCH_LIBRARY_FRAGMENT(demo, m) { m.def(NAMES[0]); }\n"}, {"ops.cpp", ops}});
  CHECK(!operator_of(more, "demo::other")[Key::schema].said());
}

TEST_CASE("a stretch that is no Python is told, and may be anything that is missing") {
  const Facts facts =
      read_sources({{"more.py",
                     "import torch\nlib = torch.library.Library('demo', 'FRAGMENT')\n"
                     "def f(:\n  lib.define 'other(Tensor x) -> Tensor' ))\n"},
                    {"ops.cpp",
                     "TORCH_LIBRARY(demo, m) { m.def(\"f(Tensor x) -> Tensor\"); }\n"
                     "TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl(\"other\", &other); }\n"}});
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].severity == Severity::warning);
  CHECK(facts.files[facts.problems[0].where.file].path == "more.py");
  CHECK(!operator_of(facts, "demo::other")[Key::schema].said());
}

TEST_CASE("handlers of XLA are found in macros, in tables and in Python") {
  const Facts facts = read_sources(
      {{"a.cc",
        "XLA_FFI_REGISTER_HANDLER(ffi::GetXlaFfiApi(), \"mv\", \"CUDA\", Mv,\n"
        "                         XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE);\n"
        "XLA_FFI_REGISTER_HANDLER(ffi::GetXlaFfiApi(), \"conv\", \"CUDA\",\n"
        "                         {ConvInit, nullptr, nullptr, ConvRun});\n"
        "nb::dict Registrations() {\n  nb::dict d;\n"
        "  d[\"old\"] = EncapsulateFunction(Old);\n"
        "  d[\"new\"] = jax::EncapsulateFfiHandler(New);\n  return d;\n}\n"},
       {"b.py", "import jax\n\njax.ffi.register_ffi_target(\"py\", lib.f, platform=\"CUDA\")\n"}});
  const Fact targets = manifest_of(facts, "jax")[Key::targets];
  CHECK(targets.size() == 5);
  const Fact mv = named(targets, "mv");
  CHECK(mv[Key::platform].is("CUDA"));
  CHECK(mv[Key::function][Key::name].is("Mv"));
  CHECK(list_has(mv[Key::traits], "XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE"));
  const Fact conv = named(targets, "conv");
  CHECK(conv[Key::stages].size() == 2);
  CHECK(list_has(conv[Key::stages], "instantiate"));
  CHECK(list_has(conv[Key::stages], "execute"));
  CHECK(named(targets, "old")[Key::handler_kind].is("untyped"));
  CHECK(named(targets, "new")[Key::handler_kind].is("typed"));
  CHECK(named(targets, "py")[Key::platform].is("CUDA"));
  CHECK(named(targets, "py")[Key::api_version].count() == 1);
}

TEST_CASE("a primitive has the rules and kernels that are registered on what holds it") {
  const Facts facts = read_sources({{"ops.py",
                                     "from brainevent._op import XLACustomKernel\n\n\n"
                                     "def jvp_x(t, x, y):\n    return mv_p(t, y)\n\n\n"
                                     "def call(x, y):\n    return mv_p(x, y)\n\n\n"
                                     "mv_p = XLACustomKernel(\"mv\")\n"
                                     "mv_p.def_numba_kernel(kernel)\n"
                                     "mv_p.def_jvp_rule2(jvp_x, None, None)\n"
                                     "mv_p.def_transpose_rule(transpose)\n"}});
  const Fact op = named(manifest_of(facts, "brainevent")[Key::operators], "mv");
  CHECK(list_has(op[Key::aliases], "mv_p"));
  CHECK(op[Key::inputs].count() == 2);
  CHECK(op[Key::jvp][Key::rules].size() == 3);
  CHECK(op[Key::transpose][Key::name].is("transpose"));
  CHECK(kernels(op) == "cpu kernel");
}

TEST_CASE("sources that are cut off anywhere are read without harm") {
  const std::string cpp =
      "#ifdef A\n#define REG(n, f) m.impl(#n, TORCH_FN(f))\n#endif\n"
      "void add(torch::Library& m) { REG(f, cpu::f); }\n"
      "TORCH_LIBRARY(demo, m) { m.def(R\"(f(Tensor x) -> Tensor)\", {tag}); add(m);\n"
      "  m.impl(\"f\", torch::dispatch(c10::DispatchKey::CPU, [](Tensor x) { return x; })); }\n"
      "XLA_FFI_REGISTER_HANDLER(a, \"b\", \"c\", {x, nullptr, y});\n"
      "auto t = d[\"x\"] = EncapsulateFunction(static_cast<void (*)(int)>(&h<1, 2>));\n";
  const std::string python =
      "import torch\nlib = torch.library.Library('demo', 'DEF')\n"
      "lib.define('g(Tensor x) -> Tensor')\n"
      "@torch.library.custom_op('demo::h', mutates_args=('x',))\ndef h(x: torch.Tensor) -> None: "
      "pass\n"
      "jax.ffi.register_ffi_target('y', f)\np = Primitive('z')\nad.defjvp(p, a, None)\n";
  for (std::size_t at = 0; at < cpp.size(); at += 3) {
    const Facts facts = read_sources({{"a.cpp", cpp.substr(0, at)}, {"b.cpp", cpp.substr(at)}});
    CHECK(facts.documents.size() <= 2);
  }
  for (std::size_t at = 0; at < python.size(); at += 3) {
    const Facts facts = read_sources({{"a.py", python.substr(0, at)}, {"b.py", python.substr(at)}});
    CHECK(facts.documents.size() <= 3);
  }
}

TEST_CASE("a macro means what is stated, whatever the sources define") {
  const Sources sources = {
      {"ops.cpp",
       "#include \"reg.h\"\nMY_KERNEL(scale, CUDA, &scale_cuda);\nMY_KERNEL(shift, CPU, shift);\n"},
      {"reg.h", "#define MY_KERNEL(op, key, fn) static Registrar r_##op(#op, fn)\n"}};
  const std::string macro =
      "#define MY_KERNEL(op, key, fn) TORCH_LIBRARY_IMPL(demo, key, m) { m.impl(#op, fn); }\n";
  CHECK(manifest_of(read_sources(sources), "torch")[Key::operators].size() == 0);
  const Facts facts = read_sources(sources, false, macro);
  CHECK(kernels(operator_of(facts, "demo::scale")) == "CUDA scale_cuda");
  CHECK(kernels(operator_of(facts, "demo::shift")) == "CPU shift");
  // Undefining it doesn't help either, and where no header has it, its name is looked for.
  const Facts bare =
      read_sources({{"a.cpp", "#undef MY_KERNEL\nMY_KERNEL(scale, CUDA, f);\n"}}, false, macro);
  CHECK(kernels(operator_of(bare, "demo::scale")) == "CUDA f");
}

TEST_CASE("a finding in a source says that it rests on text") {
  Facts facts =
      read_sources({{"ops.cpp", "TORCH_LIBRARY(demo, m) { m.def(\"f(Tensor x) -> Tensor\"); }\n"}});
  Finding finding;
  finding.rule = find_rule("schema-arity");
  REQUIRE(finding.rule != nullptr);
  finding.evidence = evidence(operator_of(facts, "demo::f")[Key::schema], "");
  CHECK(Tiers(facts).of(finding) == Tier::lexed);
  finding.evidence.where = {};
  CHECK(Tiers(facts).of(finding) == Tier::manifest);
}

TEST_CASE("tests, examples and vendored projects are set aside") {
  CHECK(is_aside("tests/ops.cpp"));
  CHECK(is_aside("pkg/third_party/lib/csrc/ops.cpp"));
  CHECK(is_aside("pkg/3rd_party/lib/csrc/ops.cpp"));
  CHECK(is_aside("pkg/ops_test.py"));
  CHECK(!is_aside("pkg/latest.py"));
  CHECK(!is_aside("csrc/pack_test.cu"));
  CHECK(!is_aside("tests"));
}

TEST_CASE("a kernel for everything under a key is no operator's") {
  const Facts facts = read_sources({{"a.cpp", R"(
TORCH_LIBRARY(ns, m) { m.def("f(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(_, XPU, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&xpu_fallback>());
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { if (flag) { m.fallback(Boxed()); } m.fallback(Boxed()); }
TORCH_LIBRARY_IMPL(_, AutogradXPU, m) { m.fallback(torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(ns, CPU, m) { m.fallback(Boxed()); }
)"}});
  const Fact torch = manifest_of(facts, "torch");
  std::string text;
  for (const Fact key : torch[Key::backend_fallbacks].items())
    text += std::string(key.text()) + " ";
  CHECK(text == "XPU PrivateUse1 ");
  CHECK(torch[Key::operators].size() == 1);
}

}  // namespace opseal::test
