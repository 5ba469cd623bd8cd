// Ways in which real projects register, beside those that sources_test.cpp and sources_ffi_test.cpp
// have: each has occurred in a public repository.

#include <doctest/doctest.h>

#include <string>

#include "tests/source_folder.h"

namespace opseal::test {
namespace {

// `f: CPU g, CUDA h; ` for each operator of torch, sorted by name.
std::string registered_by(const Sources& sources) {
  const Facts facts = read_sources(sources);
  std::string text;
  for (const Fact op : manifest_of(facts, "torch")[Key::operators].items()) {
    text += std::string(op[Key::name].text()) + ':';
    std::string_view separator = " ";
    for (const Fact kernel : op[Key::kernels].items()) {
      text += std::string(separator) + std::string(kernel[Key::platform].text("?"));
      const Fact name = kernel[Key::function][Key::name];
      if (name.said()) text += ' ' + std::string(name.text());
      separator = ", ";
    }
    text += "; ";
  }
  return text;
}

std::string registered_by(const std::string& text) { return registered_by({{"ops.cpp", text}}); }

std::string with_line_ends(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) {
    text.replace(at, 1, "\r\n");
  }
  return text;
}

constexpr const char* project_macros =
    "#define EACH(M) \\\n"
    "  M(a) \\\n"
    "  M(b)\n"
    "#define REG(n) m.impl(\"pack_\" #n \"_w4\", &pack_##n);\n"
    "TORCH_LIBRARY(demo, m) {\n"
    "  // packs \\\n"
    "  m.def(\"none() -> ()\");\n"
    "  m.def(\"pack_a_w4(Tensor x) -> Tensor\");\n"
    "  m.def(\"pack_b_w4(Tensor x) \\\n"
    "-> Tensor\");\n"
    "}\n"
    "#ifdef WITH_CPU\n"
    "TORCH_LIBRARY_IMPL(demo, CPU, m) { EACH(REG) }\n"
    "#endif\n";

}  // namespace

TEST_CASE("names are put together from literals and arguments of macros") {
  CHECK(registered_by(project_macros) ==
        "demo::pack_a_w4: CPU pack_a; demo::pack_b_w4: CPU pack_b; ");
}

TEST_CASE("line ends of two characters change nothing") {
  CHECK(registered_by(with_line_ends(project_macros)) == registered_by(project_macros));
}

TEST_CASE("blocks of the stable interface hold boxed kernels, template arguments included") {
  CHECK(registered_by("STABLE_TORCH_LIBRARY_FRAGMENT(demo, ops) {\n"
                      "  ops.def(\"f(Tensor x) -> Tensor\");\n"
                      "}\n"
                      "STABLE_TORCH_LIBRARY_IMPL(demo, CUDA, ops) {\n"
                      "  ops.impl(\"f\",\n"
                      "           TORCH_BOX(&ns::f<true, 3>));\n"
                      "}\n") == "demo::f: CUDA ns::f; ");
}

TEST_CASE("keys are enumerators or short names of devices") {
  CHECK(registered_by("TORCH_LIBRARY(demo, m) {\n"
                      "  m.def(\"f(Tensor x) -> Tensor\");\n"
                      "  m.impl(\"f\", torch::kPrivateUse1, &a);\n"
                      "  m.impl(\"f\", torch::kMeta, b);\n"
                      "  m.impl(\"f\", c10::DispatchKey::QuantizedCPU, c);\n"
                      "  m.impl(\"f\", torch::dispatch(c10::kXPU, TORCH_FN(d)));\n"
                      "}\n") == "demo::f: PrivateUse1 a, Meta b, QuantizedCPU c, XPU d; ");
}

TEST_CASE("tags of a definition may be a macro that is empty in some builds") {
  CHECK(registered_by("#ifdef OLD_TORCH\n#define TAGS\n#else\n#define TAGS , {at::Tag::core}\n"
                      "#endif\n"
                      "TORCH_LIBRARY(demo, m) { m.def(\"f(Tensor x) -> Tensor\" TAGS); }\n")
            .starts_with("demo::f:"));
}

TEST_CASE("what a block says about Python modules is no operator") {
  CHECK(registered_by("TORCH_LIBRARY(demo, m) {\n"
                      "  m.set_python_module(\"demo.shapes\");\n"
                      "  m.impl_abstract_pystub(\"demo.shapes\", \"//demo:shapes\");\n"
                      "  m.def(\"f(Tensor x) -> Tensor\");\n"
                      "}\n") == "demo::f:; ");
}

TEST_CASE("a namespace that is pasted from what the build picks is left open") {
  CHECK(registered_by("#define CONCAT_(a, b) a##b\n#define CONCAT(a, b) CONCAT_(a, b)\n"
                      "TORCH_LIBRARY_FRAGMENT(CONCAT(TORCH_EXTENSION_NAME, _comm), comm) {\n"
                      "  comm.def(\"reduce(int fa, Tensor x) -> ()\");\n"
                      "  comm.impl(\"reduce\", torch::kCUDA, &reduce);\n"
                      "  comm.def(\"destroy\", &destroy);\n"
                      "}\n") ==
        "destroy: CompositeImplicitAutograd destroy; reduce: CUDA reduce; ");
}

}  // namespace opseal::test
