// What kernels in C++ write to.

#include "analyzers/sources/kernel_writes.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "opseal/registration.h"
#include "tests/bounded.h"
#include "tests/source_folder.h"

namespace opseal::test {
namespace {

// The parameters that kernels write to.
std::string writes(const Facts& facts) {
  std::string text;
  for_each_operator(facts, [&text](const Fact&, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      for (const Fact written : kernel[Key::writes].items()) {
        text += (text.empty() ? "" : " ") + std::string(written.text());
      }
    }
  });
  return text;
}

constexpr std::string_view block =
    "\nTORCH_LIBRARY_IMPL(demo, CPU, m) {\n  m.impl(\"f\", &f);\n}\n";

// Of a function with this body.
std::string writes_of(const std::string& body, const std::string& before = {}) {
  return writes(
      read_sources({{"csrc/ops.cu", before + "void f(const at::Tensor& x, at::Tensor y) {\n" +
                                        body + "\n}" + std::string(block)}}));
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("methods, elements, pointers and functions of torch write") {
  CHECK(writes_of("y.copy_(x);") == "y");
  CHECK(writes_of("y[0] = 1;") == "y");
  CHECK(writes_of("if (x.numel()) y += x;") == "y");
  CHECK(writes_of("y.view({-1}).select(0, 1).zero_();") == "y");
  CHECK(writes_of("at::add_out(y, x, x);") == "y");
  CHECK(writes_of("cudaMemcpyAsync(y.data_ptr(), x.data_ptr(), 4);") == "y");
  CHECK(writes_of("auto* p = reinterpret_cast<half*>(y.data_ptr<at::Half>());\n*p = 1;") == "y");
  CHECK(writes_of("auto a = y.accessor<float, 2>();\na[0][1] = 2;") == "y");
  CHECK(writes_of("hipMemcpyBatchAsync(reinterpret_cast<void**>(y.data_ptr()), a, b, 4);") == "");
  CHECK(writes_of("atomicAdd(&y_[0], 1);") == "");
}

TEST_CASE("what a called function writes is written") {
  const std::string kernel =
      "template <typename T> __global__ void k(const T* in, T* out) { out[0] = in[0]; }\n";
  CHECK(writes_of("k<float><<<1, dim3(2, 3)>>>(x.data_ptr<float>(), y.data_ptr<float>());",
                  kernel) == "y");
  CHECK(writes_of("k<<<1, 2>>>(y.data_ptr<float>(), z.data_ptr<float>());", kernel) == "");
  CHECK(writes_of("g(y, x);",
                  "void g(at::Tensor a, at::Tensor b) { h(b, a); }\n"
                  "void h(at::Tensor c, at::Tensor d) { d.zero_(); }\n") == "y");
}

TEST_CASE("copies, other things of the name and other memory are not written") {
  CHECK(writes_of("auto z = y.clone();\nz.add_(1);") == "");
  CHECK(writes_of("y = y.contiguous();\ny.add_(1);") == "");
  CHECK(writes_of("float y[4];\ny[0] = 1;") == "");
  CHECK(writes_of("auto one = [](at::Tensor y) { y.zero_(); };") == "");
  CHECK(writes_of("auto one = [](at::Tensor& y, int n) { y.zero_(); };") == "");
  CHECK(writes_of("auto one = [&](int n) { y.zero_(); };") == "y");
  CHECK(writes_of("s.y[0] = 1;\ns.y.zero_();") == "");
  CHECK(writes_of("float* p = y.data_ptr<float>();\np += 4;") == "");
  CHECK(writes_of("y.requires_grad_(true);\ny.resize_({0});") == "");
  CHECK(writes_of("if (y[0] == 1 || a[0] == y[0]) b = y[0];") == "");
}

// What grows with the square of the text takes minutes.
TEST_CASE("bodies that are made to be slow are not") {
  constexpr int many = 20'000;
  std::string chain = "void g0(at::Tensor t) { t.zero_(); }\n";
  for (int i = 1; i < 3000; ++i) {
    const std::string before = std::to_string(i - 1);
    chain += "void g" + std::to_string(i) + "(at::Tensor t) { g" + before + "(t); g" + before +
             "(t); }\n";
  }
  for (const std::string& body :
       {repeated("g2999(y, ", many) + repeated(")", many) + ";", repeated("y[", many) + "0",
        repeated("k<", many) + repeated("y.view(", many),
        repeated("auto z = y.view({-1});\n", many), repeated("k<<<1, 2", many),
        repeated("g2999(y); x.view(1)[0] = 1;\n", many)}) {
    const Taken taken = run_bounded([&] {
      writes_of(body, chain);
      return std::string("done");
    });
    INFO(body.substr(0, 40));
    CHECK(taken.broken == "");
    CHECK(taken.answer == "done");
  }
}

}  // namespace opseal::test
