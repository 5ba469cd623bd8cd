#include "rules/library_variants.h"

#include <doctest/doctest.h>

#include "tests/support.h"

namespace opseal::test {
namespace {

TEST_CASE("builds of one library have one stem") {
  const auto same = [](std::string_view a, std::string_view b) {
    INFO(a << " and " << b << ": " << variant_stem(a) << " and " << variant_stem(b));
    return variant_stem(a) == variant_stem(b);
  };
  CHECK(same("b/libb_cuda118.so", "b/libb_cuda130.so"));
  CHECK(same("k/sm90/common_ops.abi3.so", "k/sm100/common_ops.abi3.so"));
  CHECK(same("x.cpython-310-x86_64-linux-gnu.so", "x.cpython-311-x86_64-linux-gnu.so"));
  CHECK(same("libmscclpp_nccl.so", "libmscclpp_nccl.so.0.6.0"));
  CHECK(same("build/torch210-cxx11-cu126-x86_64-linux/_k.abi3.so",
             "build/torch29-cxx11-cu130-aarch64-linux/_k.abi3.so"));
  CHECK(same("libggml-cpu-haswell.so", "libggml-cpu-alderlake.so"));
  CHECK(same("modules/add_80.ptx", "modules/add_90a.ptx"));
  CHECK(same("lib/12/libx.so", "lib/13/libx.so"));
}

TEST_CASE("libraries that work side by side have stems of their own") {
  CHECK(variant_stem("_vllm_fa2_C.abi3.so") != variant_stem("_vllm_fa3_C.abi3.so"));
  CHECK(variant_stem("libggml-cpu.so") != variant_stem("libggml-cuda.so"));
  CHECK(variant_stem("lib/liba.so") != variant_stem("lib/libb.so"));
  CHECK(variant_stem("conv1d.so") != variant_stem("conv2d.so"));
}

bool alternatives(const std::string& libraries) {
  const Facts facts = read_text(R"({"opseal_manifest": 1, "libraries": [)" + libraries + "]}");
  REQUIRE(facts.problems.empty());
  const Fact list = facts.root(facts.documents.front())[Key::libraries];
  REQUIRE(list.size() == 2);
  auto at = list.items().begin();
  const Fact first = *at;
  ++at;
  LibraryVariants variants;
  const bool result = variants.alternatives(first, *at);
  CHECK(result == variants.alternatives(*at, first));
  return result;
}

std::string library(const std::string& path, const std::vector<std::string>& exports,
                    const std::string& more = {}) {
  std::string text = R"({"path": ")" + path + R"(", "exports": [)";
  for (const std::string& name : exports) {
    if (text.back() == '}') text += ", ";
    text += R"({"name": ")" + name + R"("})";
  }
  return text + "]" + more + "}";
}

TEST_CASE("equal exports make variants of libraries for two devices") {
  const std::vector<std::string> five = {"add", "mul", "div", "sub", "neg"};
  const std::vector<std::string> other = {"add", "mul", "div", "sub", "abs"};
  CHECK(alternatives(library("libb_cpu.so", five) + ", " + library("libb_cuda.so", five)));
  CHECK_FALSE(alternatives(library("libb_cpu.so", five) + ", " + library("libb_cuda.so", other)));
  CHECK_FALSE(alternatives(library("liba.so", five) + ", " + library("libb.so", five)));
  CHECK_FALSE(alternatives(library("libb_cpu.so", {"ggml_backend_init"}) + ", " +
                           library("libb_cuda.so", {"ggml_backend_init"})));
}

TEST_CASE("a library that has all that a part of it has is another build") {
  const std::vector<std::string> five = {"add", "mul", "div", "sub", "neg"};
  const std::vector<std::string> four = {"add", "mul", "div", "sub"};
  const std::vector<std::string> other = {"add", "mul", "div", "abs"};
  CHECK(alternatives(library("lib/libx.so", five) + ", " + library("lib/libx_runtime.so", four)));
  CHECK(alternatives(library("lib/libx_runtime.so", four) + ", " + library("lib/libx.so", five)));
  CHECK_FALSE(
      alternatives(library("lib/libx.so", five) + ", " + library("lib/libx_runtime.so", other)));
  CHECK_FALSE(alternatives(library("lib/libx.so", five) + ", " + library("lib/libyx.so", four)));
  CHECK_FALSE(
      alternatives(library("lib/libx.so", five) + ", " + library("bin/libx_runtime.so", four)));
  // One that another one needs is there with it.
  CHECK_FALSE(alternatives(library("lib/libx.so", five, R"(, "needed": ["libx_runtime.so"])") +
                           ", " + library("lib/libx_runtime.so", four)));
}

TEST_CASE("libraries made for two versions of what they need are variants") {
  const auto needs = [](const std::string& path, const std::string& soname) {
    return library(path, {}, R"(, "needed": [")" + soname + R"("])");
  };
  CHECK(alternatives(needs("core4.so", "libavcodec.so.58") + ", " +
                     needs("core5.so", "libavcodec.so.59")));
  CHECK_FALSE(alternatives(needs("_fa2_C.so", "libcudart.so.13") + ", " +
                           needs("_fa3_C.so", "libcudart.so.13")));
  CHECK_FALSE(alternatives(needs("reader.so", "libavcodec.so.58") + ", " +
                           needs("writer.so", "libavcodec.so.59")));
}

TEST_CASE("one file met twice is no second library") {
  const std::string id = R"(, "build_id": "0badc0de")";
  CHECK(alternatives(library("a/libx.so", {}, id) + ", " + library("b/liby.so", {}, id)));
  CHECK_FALSE(alternatives(library("a/libx.so", {}, id) + ", " +
                           library("b/liby.so", {}, R"(, "build_id": "0badc0d0")")));
}

}  // namespace
}  // namespace opseal::test
