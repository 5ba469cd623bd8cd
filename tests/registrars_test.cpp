#include "analyzers/native/registrars.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/elf_libraries.h"

namespace opseal::test {
namespace {

std::string kind(Registrar::Kind kind) {
  switch (kind) {
    case Registrar::Kind::definition:
      return "definition";
    case Registrar::Kind::fragment:
      return "fragment";
    case Registrar::Kind::implementation:
      return "implementation";
    case Registrar::Kind::entry:
      return "entry";
    case Registrar::Kind::imports:
      return "imports";
  }
  return "";
}

std::vector<Registrar> registrars_of(const std::string& bytes) {
  const Elf elf{Bytes(bytes)};
  return find_registrars(elf, elf.dynamic_symbols());
}

// A line for each, with its schemas, which linkers order as they like.
std::string shown(const std::vector<Registrar>& registrars, std::string_view system) {
  std::string text;
  for (const Registrar& registrar : registrars) {
    if (registrar.system != system) continue;
    text += kind(registrar.kind) + " " + registrar.namespace_ + " " + registrar.platform + "\n";
    std::vector<std::string> schemas = registrar.schemas;
    std::sort(schemas.begin(), schemas.end());
    for (const std::string& schema : schemas) text += "  " + schema + "\n";
  }
  return text;
}

std::string symbols(const std::vector<Registrar>& registrars, std::string_view system) {
  std::set<std::string> names;
  for (const Registrar& registrar : registrars) {
    if (registrar.system == system) names.insert(kind(registrar.kind) + " " + registrar.symbol);
  }
  std::string text;
  for (const std::string& name : names) text += name + "; ";
  return text;
}

}  // namespace

TEST_CASE("registrars: torch's blocks, each with the schemas that its code uses") {
  const std::string bytes = read_file(elf_library("registrars.so"));
  const std::vector<Registrar> registrars = registrars_of(bytes);
  CHECK(shown(registrars, "torch") ==
        "imports  \n"
        "  floating(int n) -> int\n"
        "definition first_ops \n"
        "  add(Tensor a, Tensor b) -> Tensor\n"
        "  fill(Tensor! out, Scalar value) -> ()\n"
        "fragment second \n"
        "  second::scale(Tensor a) -> Tensor\n"
        "  unnamed(Tensor a) -> Tensor\n"
        "fragment third \n"
        "implementation first_ops CUDA\n"
        "implementation first_ops TESTING_ONLY_GenericMode\n");
  for (const Registrar& registrar : registrars) {
    CHECK(registrar.offset > 0);
    CHECK(registrar.offset < bytes.size());
  }
}

TEST_CASE(
    "registrars: a stripped file shows that torch operators are registered, and which texts") {
  const std::string stripped = read_file(elf_library("registrars_stripped.so"));
  const std::string expected =
      "imports  \n"
      "  add(Tensor a, Tensor b) -> Tensor\n"
      "  fill(Tensor! out, Scalar value) -> ()\n"
      "  floating(int n) -> int\n"
      "  other::looked_up(Tensor a) -> Tensor\n"
      "  second::scale(Tensor a) -> Tensor\n"
      "  unnamed(Tensor a) -> Tensor\n";
  for (const std::string& bytes : {stripped, without_sections(stripped)}) {
    const std::vector<Registrar> registrars = registrars_of(bytes);
    CHECK(shown(registrars, "torch") == expected);
    CHECK(symbols(registrars, "torch") == "imports aoti_torch_library_init_def; ");
  }
}

TEST_CASE("registrars: functions that a framework looks up by name") {
  const std::string bytes = read_file(elf_library("registrars_stripped.so"));
  const std::vector<Registrar> registrars = registrars_of(bytes);
  CHECK(symbols(registrars, "onnxruntime") == "entry RegisterCustomOps; ");
  CHECK(symbols(registrars, "ggml") == "entry ggml_backend_init; entry ggml_backend_magic_reg; ");
  CHECK(symbols(registrars, "tvm-ffi") == "entry __tvm_ffi_scale; ");
  CHECK(symbols(registrars, "python") == "entry PyInit_registrars; ");
  CHECK(shown(registrars, "ggml").find("entry  magic\n") != std::string::npos);
}

TEST_CASE("registrars: a library without marks has none") {
  CHECK(registrars_of(read_file(elf_library("symbols.so"))).empty());
}

}  // namespace opseal::test
