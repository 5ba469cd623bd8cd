// Where C++ sources choose by dtype, and which kernels lead there.

#include "analyzers/sources/dispatches.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzers/sources/load.h"
#include "opseal/registration.h"
#include "rules/rules.h"
#include "tests/bounded.h"
#include "tests/source_folder.h"

namespace opseal::test {
namespace {

// `CPU: x.scalar_type() f16 f32 by AT_…; y …` for each kernel.
std::string choices(const Facts& facts) {
  std::string text;
  for_each_operator(facts, [&text](const Fact&, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!text.empty()) text += '\n';
      text += std::string(kernel[Key::platform].text()) + ':';
      for (const Fact choice : kernel[Key::dispatches].items()) {
        if (text.back() != ':') text += ';';
        text += ' ' + std::string(choice[Key::expression].text("nothing"));
        for (const Fact dtype : choice[Key::dtypes].items())
          text += ' ' + std::string(dtype.text());
        if (!choice[Key::dtypes].said()) text += " unknown";
        if (choice[Key::macro].said()) text += " by " + std::string(choice[Key::macro].text());
        if (choice[Key::checked].truth()) text += " checked";
        if (choice[Key::tested].truth()) text += " tested";
      }
    }
  });
  return text;
}

// Of a function with this body.
std::string choices_of(const std::string& body, const std::string& before = {}) {
  return choices(
      read_sources({{"csrc/ops.cpp", before + "at::Tensor f(const at::Tensor& x) {\n" + body +
                                         "\n}\nTORCH_LIBRARY_IMPL(demo, CPU, m) {\n"
                                         "  m.impl(\"f\", &f);\n}\n"}}));
}

}  // namespace

TEST_CASE("torch's macros say their dtypes") {
  CHECK(choices_of("AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), \"f\", [&] {});") ==
        "CPU: x.scalar_type() f16 f32 f64 by AT_DISPATCH_FLOATING_TYPES_AND_HALF");
  CHECK(choices_of("AT_DISPATCH_INTEGRAL_TYPES_AND(at::ScalarType::Bool, x.dtype(), \"f\", g);") ==
        "CPU: x.dtype() bool i16 i32 i64 i8 u8 by AT_DISPATCH_INTEGRAL_TYPES_AND");
  CHECK(choices_of("AT_DISPATCH_REDUCED_FLOATING_TYPES(t, \"f\", g);") ==
        "CPU: t bf16 f16 by AT_DISPATCH_REDUCED_FLOATING_TYPES");
  CHECK(choices_of("AT_DISPATCH_V2(t, \"f\", AT_WRAP([&] { h(1, 2); }), AT_EXPAND(AT_INDEX_TYPES), "
                   "kHalf);") == "CPU: t f16 i32 i64 by AT_DISPATCH_V2");
  CHECK(choices_of("THO_DISPATCH_SWITCH(t, \"f\", THO_DISPATCH_CASE(ScalarType::BFloat16, g)\n"
                   "THO_DISPATCH_CASE(torch::headeronly::ScalarType::Float8_e4m3fn, g));") ==
        "CPU: t bf16 f8_e4m3fn by THO_DISPATCH_SWITCH");
}

TEST_CASE("what isn't known is said to be so") {
  CHECK(choices_of("AT_DISPATCH_NEWEST_TYPES(x.scalar_type(), \"f\", g);") ==
        "CPU: x.scalar_type() unknown by AT_DISPATCH_NEWEST_TYPES");
  CHECK(choices_of("AT_DISPATCH_FLOATING_TYPES_AND(mine, x.scalar_type(), \"f\", g);") ==
        "CPU: x.scalar_type() unknown by AT_DISPATCH_FLOATING_TYPES_AND");
  // It chooses by something else.
  CHECK(choices_of("AT_DISPATCH_REDUCTION_OPS(reduce, [&] {});") == "CPU:");
}

TEST_CASE("cases belong to the switch around them") {
  CHECK(choices_of("AT_DISPATCH_SWITCH(a, \"f\", AT_DISPATCH_CASE(at::kHalf, [&] {\n"
                   "  AT_DISPATCH_SWITCH(b, \"f\", AT_DISPATCH_CASE_INDEX_TYPES(g));\n"
                   "}) AT_DISPATCH_CASE(at::kFloat, [&] {}));") ==
        "CPU: a f16 f32 by AT_DISPATCH_SWITCH; b i32 i64 by AT_DISPATCH_SWITCH");
  const std::string by_hand =
      "switch (a) { case at::kFloat: switch (b) { case at::kLong: return x; }\n"
      "case at::kHalf: return x; default: ";
  CHECK(choices_of(by_hand + "TORCH_CHECK(false); }") == "CPU: a f16 f32; b i64");
  CHECK(choices_of(by_hand + "return g(x); }") == "CPU: a f16 f32 tested; b i64");
}

TEST_CASE("comparisons choose in a macro, assert in an assertion, and test elsewhere") {
  CHECK(choices_of("DISPATCH_HALF(x.scalar_type(), g)",
                   "#define DISPATCH_HALF(T, F) if (T == at::ScalarType::Half) { F(); } else if "
                   "(T == at::ScalarType::Float) { F(); }\n") ==
        "CPU: x.scalar_type() f16 f32 by DISPATCH_HALF");
  CHECK(
      choices_of("TORCH_CHECK(x.dtype() == torch::kFloat || x.dtype() == torch::kHalf, \"no\");") ==
      "CPU: x.dtype() f16 f32 by TORCH_CHECK checked");
  CHECK(choices_of("if (x.scalar_type() == at::kBFloat16) return g(x);") ==
        "CPU: x.scalar_type() bf16 tested");
  CHECK(choices_of("if (x.device() == at::kCUDA) return g(x);") == "CPU:");
}

TEST_CASE("a kernel leads to what its function calls, in the files nearest to it") {
  const std::string body = "(const at::Tensor& x) { AT_DISPATCH_";
  const Facts facts = read_sources(
      {{"csrc/cpu/run.cpp", "void run_it" + body + "FLOATING_TYPES(x.scalar_type(), \"f\", g); }"},
       {"csrc/cuda/run.cu", "void run_it" + body + "INDEX_TYPES(x.scalar_type(), \"f\", g); }"},
       {"csrc/middle.h", "inline void middle(const at::Tensor& x) { detail::run_it(x); }"},
       {"csrc/ops.cpp",
        "at::Tensor f(const at::Tensor& x) { middle(x); x.unrelated(); return x; }\n"
        "class Scale : public Function<Scale> { public:\n"
        "  static at::Tensor forward(Context* c, at::Tensor x) { AT_DISPATCH_COMPLEX_TYPES("
        "x.scalar_type(), \"f\", g); }\n"
        "};\n"
        "at::Tensor h(const at::Tensor& x) { return Scale::apply(x); }\n"
        "void unrelated() { AT_DISPATCH_QINT_TYPES(t, \"f\", g); }\n"
        "TORCH_LIBRARY(demo, m) {\n"
        "  m.impl(\"f\", torch::kCPU, &f);\n  m.impl(\"f\", torch::kCUDA, &f);\n"
        "  m.impl(\"h\", torch::kAutograd, &h);\n"
        "  m.impl(\"h\", torch::kCPU, &nowhere);\n}\n"}});
  CHECK(choices(facts) ==
        "CPU: x.scalar_type() f32 f64 by AT_DISPATCH_FLOATING_TYPES\n"
        "CUDA: x.scalar_type() i32 i64 by AT_DISPATCH_INDEX_TYPES\n"
        "Autograd: x.scalar_type() c128 c64 by AT_DISPATCH_COMPLEX_TYPES\n"
        "CPU:");
}

TEST_CASE("a function of a class is that class's alone") {
  std::string others;
  for (int i = 0; i < 20; ++i) {
    others += "struct Other" + std::to_string(i) +
              " { static int go(int x) { AT_DISPATCH_INDEX_TYPES(x, \"f\", g); } };\n";
  }
  const std::string body =
      "AT_DISPATCH_COMPLEX_TYPES(x.scalar_type(), \"f\", [&] { Basis<scalar_t, 2>::go(x); });";
  CHECK(choices_of(body, others) == "CPU: x.scalar_type() c128 c64 by AT_DISPATCH_COMPLEX_TYPES");
  const std::string basis =
      "template <typename T>\nstruct Basis<T, 2> { static int go(int x) { "
      "AT_DISPATCH_QINT_TYPES(x, \"f\", g); } };\n";
  CHECK(choices_of(body, others + basis) ==
        "CPU: x qint32 qint8 quint8 by AT_DISPATCH_QINT_TYPES; x.scalar_type() c128 c64 by "
        "AT_DISPATCH_COMPLEX_TYPES");
}

// What grows with the square of the text takes minutes.
TEST_CASE("sources that are made to be slow are not") {
  const std::string block = "\nTORCH_LIBRARY_IMPL(demo, CPU, m) {\n  m.impl(\"f\", &f);\n}\n";
  const auto repeated = [](std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  constexpr int times = 4000;
  constexpr int many = 20'000;
  for (const std::string& text :
       {repeated("void f(){ struct A { ", many) + repeated(" x == at::kHalf; } }", many),
        "void f(){ " + repeated("switch (a) { case at::kHalf: ", times) + repeated("}", times) +
            "}",
        "void f(){ " + repeated("TORCH_CHECK(x == at::kHalf || ", times) + repeated(")", times) +
            "}",
        "void f(){ " + repeated("AT_DISPATCH_SWITCH(a, AT_DISPATCH_CASE(at::kHalf, [&] {", times) +
            repeated("}))", times) + "}",
        repeated("void f(int x) { f(x); ~f(x); AT_DISPATCH_INDEX_TYPES(x, g); }\n", times)}) {
    const Taken taken = run_bounded([&] {
      return choices(read_sources({{"ops.cpp", text + block}}));
    });
    INFO(text.substr(0, 40));
    CHECK(taken.broken == "");
    CHECK(taken.answer.starts_with("CPU:"));
  }
}

TEST_CASE("files that were not given may choose otherwise") {
  const Sources sources{
      {"ops.cu",
       "at::Tensor f(const at::Tensor& x) { AT_DISPATCH_FLOATING_TYPES(x, \"f\", g); }\n"
       "at::Tensor h(const at::Tensor& x) { AT_DISPATCH_FLOATING_TYPES_AND_HALF(x, \"f\", g); }\n"
       "TORCH_LIBRARY(demo, m) {\n  m.impl(\"f\", torch::kCUDA, &f);\n"
       "  m.impl(\"f\", torch::kCPU, &h);\n  m.impl(\"h\", torch::kCUDA, &h);\n"
       "  m.impl(\"h_backward\", torch::kCUDA, &f);\n}\n"}};
  for (const char* name : {"dtype-macro-narrower", "grad-dtype-narrower"}) {
    std::vector<Finding> findings;
    run_rule(*find_rule(name), read_sources(sources), findings);
    CHECK(findings.size() == 1);
    run_rule(*find_rule(name), read_sources(sources, true), findings);
    CHECK(findings.size() == 1);
  }
}

}  // namespace opseal::test
