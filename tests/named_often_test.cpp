// Things that a source writes once and names at many places are read once.

#include <doctest/doctest.h>

#include <string>

#include "tests/bounded.h"
#include "tests/source_folder.h"

namespace opseal::test {
namespace {

constexpr int many = 20'000;

void check_ends(const std::string& path, const std::string& text) {
  const Taken taken = run_bounded([&] {
    read_sources({{path, text}});
    return std::string("done");
  });
  CHECK(taken.broken == "");
  CHECK(taken.answer == "done");
}

}  // namespace

TEST_CASE("a tuple of gradients that is returned at many places") {
  std::string text =
      "import torch\n\n\nclass Scale(torch.autograd.Function):\n"
      "    @staticmethod\n    def forward(ctx, x):\n        return x\n\n"
      "    @staticmethod\n    def backward(ctx, grad):\n        gradients = (grad";
  for (int i = 0; i < 5 * many; ++i) text += ", grad";
  text += ")\n";
  for (int i = 0; i < many; ++i) text += "        if ctx.a:\n            return gradients\n";
  check_ends("ops.py", text);
}

TEST_CASE("a function with many calls that is registered under many names") {
  std::string text =
      "struct Scale : public torch::autograd::Function<Scale> {};\n"
      "at::Tensor scale(at::Tensor x) {\n";
  for (int i = 0; i < many; ++i) text += "  step" + std::to_string(i) + "(x);\n";
  text += "  return Scale::apply(x);\n}\n";
  for (int i = 0; i < many; ++i) {
    text += "at::Tensor step" + std::to_string(i) + "(at::Tensor x) { return x; }\n";
  }
  text += "TORCH_LIBRARY_IMPL(demo, CPU, m) {\n";
  for (int i = 0; i < many; ++i) text += "  m.impl(\"n" + std::to_string(i) + "\", &scale);\n";
  check_ends("ops.cpp", text + "}\n");
}

TEST_CASE("a name that a file binds again and again") {
  std::string text = "import ctypes\n";
  for (int i = 0; i < 2 * many; ++i) {
    text += "l = q" + std::to_string(i) + "\nl.restype = 1\nx = l.foo(1)\nx.y.restype = 3\n";
  }
  check_ends("use.py", text);
}

TEST_CASE("a set that many predicates look into") {
  constexpr int values = 1000;
  std::string names;
  for (int i = 0; i < values; ++i) names += "KIND_" + std::to_string(i) + ", ";
  std::string text =
      "enum Kind { " + names + "};\nstatic const std::set<Kind> kinds = { " + names + "};\n";
  for (int i = 0; i < many / 5; ++i) {
    text +=
        "bool supports_" + std::to_string(i) + "(Kind kind) { return kinds.count(kind) > 0; }\n";
  }
  text += "void run(Kind kind) {\n  switch (kind) {\n";
  for (int i = 0; i < values - 3; ++i) {
    text += "    case KIND_" + std::to_string(i) + ": run_" + std::to_string(i) + "(); break;\n";
  }
  check_ends("kinds.cpp", text + "    default: abort();\n  }\n}\n");
}

}  // namespace opseal::test
