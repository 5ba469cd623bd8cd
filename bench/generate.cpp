#include "bench/generate.h"

#include <fstream>

namespace opseal::bench {
namespace {

std::string location(const std::string& file, std::uint64_t line) {
  return R"({"file":")" + file + R"(","line":)" + std::to_string(line) + "}";
}

std::string function(const std::string& name, int positional, const std::string& file,
                     std::uint64_t line) {
  return R"({"name":")" + name + R"(","positional":)" + std::to_string(positional) +
         R"(,"variadic":false,"location":)" + location(file, line) + "}";
}

std::string array_operator(std::uint64_t index) {
  const std::string id = std::to_string(index);
  const std::string name = "binary_csrmv_" + id;
  const std::string module = "package._csr.binary._" + name;
  const std::string file = "package/_csr/binary_" + std::to_string(index / 20) + ".py";
  const std::uint64_t line = index % 20 * 90 + 10;
  return R"({"name":")" + name + R"(","aliases":[")" + name + R"(_p"],"location":)" +
         location(file, line) +
         R"(,"tags":["binary","csr"],"inputs":3,"arity_source":"traced","arity":{"traced":[3],"rule":[3]},"outputs":1)" +
         R"(,"jvp":{"kind":"per_input","rules":[)" +
         function(module + "_jvp_data", 4, file, line + 20) + ",null," +
         function(module + "_jvp_v", 4, file, line + 30) + R"(]},"transpose":)" +
         function(module + "_transpose", 4, file, line + 40) +
         R"(,"batching":{"kind":"custom"},"kernels":[{"platform":"cpu","backend":"numba","function":)" +
         function(module + "_numba_kernel", 3, file, line + 50) + R"(,"location":)" +
         location(file, line + 50) +
         R"(,"dtypes":["float32","float16"]}],"defaults":{"cpu":"numba"}})";
}

std::string schema_operator(std::uint64_t index) {
  const std::string name = "aten::_foreach_clamp_" + std::to_string(index) + ".List";
  return R"({"name":")" + name + R"(","namespace":"aten","schema":")" + name +
         R"x((Tensor(a!)[] self, Tensor[] other) -> ()","location":)x" +
         location("build/aten/src/ATen/RegisterSchema.cpp", index % 40) +
         R"(,"inputs":[{"name":"self","mutated":true,"type":"Tensor[]","alias":"a!"},{"name":"other","mutated":false,"type":"Tensor[]"}])" +
         R"(,"attributes":[],"outputs":[],"arity_source":"schema","tags":["inplace","pt2_compliant_tag"])" +
         R"(,"kernels":[{"platform":"CPU","location":)" +
         location("build/aten/src/ATen/RegisterCPU_" + std::to_string(index % 4) + ".cpp", index) +
         "}]}";
}

}  // namespace

std::uint64_t write_manifest(const std::string& path, std::uint64_t registrations) {
  std::ofstream out(path, std::ios::binary);
  out << "{\"opseal_manifest\":1,\n\"system\":\"engine\",\n\"platforms\":[\"cpu\",\"CPU\"],"
         "\n\"operators\":[\n";
  for (std::uint64_t index = 0; index < registrations / 2; ++index) {
    out << (index == 0 ? "" : ",\n")
        << (index % 2 == 0 ? array_operator(index) : schema_operator(index));
  }
  out << "\n]}\n";
  return static_cast<std::uint64_t>(out.tellp());
}

}  // namespace opseal::bench
