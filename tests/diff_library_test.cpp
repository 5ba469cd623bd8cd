// What two builds of a library mean to those who use it.

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/diff_support.h"

namespace opseal::test {
namespace {

using Lines = std::vector<std::string>;

std::string library(std::string_view facts, std::string_view path = "pkg/libops.so") {
  return manifest_of(R"("libraries": [{"path": ")" + std::string(path) + R"(", "format": "elf", )" +
                     std::string(facts) + "}]");
}

Lines library_changes(std::string_view before, std::string_view after) {
  return changes_of(library(before), library(after));
}

// The first image is for `sm_80`, unless it says otherwise.
std::string images(std::string_view first, std::string_view more = "") {
  return R"("images": [{"container": 0, "kind": "sass", "kernels": [{"name": "_Z3addPf"}], )" +
         std::string(first) + "}" + std::string(more) + "]";
}

std::string handler(std::string_view facts) {
  return R"("handlers": [{"symbol": "Add", "stage": "execute", )" + std::string(facts) + "}]";
}

std::string registrars(std::string_view items) {
  return R"("registrars": [)" + std::string(items) + "]";
}

}  // namespace

TEST_CASE("a lost export breaks those who look it up, a new one adds to them") {
  const std::string both = R"("exports": [{"name": "add"}, {"name": "sub"}])";
  const std::string one = R"("exports": [{"name": "add"}])";
  CHECK(library_changes(both, one) ==
        Lines{"breaking major pkg/libops.so: lost 1 exported symbol: `sub`"});
  CHECK(library_changes(one, both) ==
        Lines{"additive minor pkg/libops.so: gained 1 exported symbol: `sub`"});
  // Nobody knows whether it lost them.
  CHECK(library_changes(both, R"("needed": [])").empty());
}

TEST_CASE("C++ names, kernels and registers are the compiler's own business") {
  const std::string before =
      R"("exports": [{"name": "add"}, {"name": "_ZN3pkg3addEPf"}], "host_kernels": ["_Z3addPf"], )" +
      images(R"("architecture": "sm_80", "section": ".nv_fatbin")");
  const std::string after =
      R"("exports": [{"name": "add"}, {"name": "_ZN3pkg3addEPd"}], "host_kernels": ["_Z3addPd"], )"
      R"("images": [{"container": 4, "kind": "sass", "architecture": "sm_80", )"
      R"("kernels": [{"name": "_Z3addPd", "registers": 40}]}])";
  CHECK(library_changes(before, after).empty());
}

TEST_CASE("a lost architecture breaks its devices") {
  const std::string both =
      images(R"("architecture": "sm_80")",
             R"(, {"kind": "ptx", "architecture": "sm_90", "kernels": [{"name": "_Z3addPf"}]})");
  const std::string one = images(R"("architecture": "sm_80")");
  const Lines lost = library_changes(both, one);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].starts_with("breaking major pkg/libops.so: no code any more for `sm_90`, "));
  const Lines gained = library_changes(one, both);
  REQUIRE(gained.size() == 1);
  CHECK(gained[0].starts_with("additive minor pkg/libops.so: code for further devices: `sm_90`, "));
  // What holds no kernel served nobody.
  CHECK(library_changes(images(R"("architecture": "sm_80")",
                               R"(, {"kind": "sass", "architecture": "sm_75", "kernels": []})"),
                        one)
            .empty());
}

TEST_CASE("a handler that binds something else breaks stored programs") {
  const std::string one = handler(R"("arguments": [{"dtypes": ["F32"]}], "attributes": ["bool"])");
  const std::string other =
      handler(R"("arguments": [{"dtypes": ["F32"]}, {}], "attributes": ["string"])");
  const Lines changes = library_changes(one, other);
  REQUIRE(changes.size() == 2);
  for (const std::string& change : changes) {
    CHECK(change.starts_with("breaking major pkg/libops.so: "));
    CHECK(change.find("of the handler `Add`") != std::string::npos);
  }
  CHECK(library_changes(one, one).empty());
  // One of the two may be wrong.
  CHECK(library_changes(one, handler(R"("arguments": [], "ambiguous": true)")).empty());
}

TEST_CASE("a lost registration and a lost schema break those who call it") {
  const std::string definition =
      R"({"system": "torch", "kind": "definition", "namespace": "ops", "schemas": )";
  const std::string kernels =
      R"(, {"system": "torch", "kind": "implementation", "namespace": "ops", "platform": "CUDA"})";
  const std::string whole =
      registrars(definition + R"(["add(Tensor a) -> Tensor", "sub(int b) -> int"]
})" + kernels);
  CHECK(library_changes(whole,
                        registrars(definition + R"(["add(Tensor a) -> Tensor"]})" + kernels)) ==
        Lines{"breaking major pkg/libops.so: lost 1 schema: `ops::sub(int b) -> int`"});
  CHECK(
      library_changes(whole, registrars(definition +
                                        R"(["add(Tensor a) -> Tensor", "sub(int b) -> int"]
  })")) ==
      Lines{"breaking major pkg/libops.so: lost 1 registration: `torch implementation ops CUDA`"});
  const auto entry = [](std::string_view symbol) {
    return registrars(R"({"system": "python", "kind": "entry", "symbol": ")" + std::string(symbol) +
                      R"("})");
  };
  CHECK(library_changes(entry("PyInit_ops"), entry("PyInit__ops")).size() == 2);
}

TEST_CASE("two files that were given are two builds, whatever they are called") {
  const std::string before = library(R"("exports": [{"name": "add"}])", "old/libops.so.1");
  const std::string after = library(R"("exports": [])", "new/libops.so.2");
  CHECK(changes_of(before, after) ==
        Lines{"breaking major old/libops.so.1: lost 1 exported symbol: `add`"});
}

TEST_CASE("libraries of packages are found by their file's name, else one is removed") {
  const auto package = [](std::string_view first, std::string_view second) {
    const auto one = [](std::string_view path) {
      return R"({"path": ")" + std::string(path) + R"(", "format": "elf", "soname": "libx.so"})";
    };
    return manifest_of(R"("libraries": [)" + one(first) + ", " + one(second) + "]");
  };
  CHECK(changes_of(package("a/libx.so", "a/liby.so"), package("b/libx.so", "b/liby.so")).empty());
  CHECK(changes_of(package("a/libx.so", "a/liby.so"), package("a/libx.so", "a/libz.so")) ==
        Lines{"breaking major a/liby.so: no such library any more",
              "additive minor a/libz.so: new library"});
}

TEST_CASE("a module for one interpreter and one for the stable interface are one library") {
  const auto package = [](const Lines& paths) {
    std::string list;
    for (const std::string& path : paths) {
      list += (list.empty() ? R"({"path": ")" : R"(, {"path": ")") + path +
              R"(", "format": "elf", "type": "shared"})";
    }
    return manifest_of(R"("libraries": [)" + list + "]");
  };
  CHECK(changes_of(package({"ops/_C.cpython-311-x86_64-linux-gnu.so", "ops/_D.abi3.so"}),
                   package({"ops/_C.abi3.so", "ops/_D.so"}))
            .empty());
  // Two of one name keep the others from nothing.
  CHECK(changes_of(package({"ops/_C.cpython-311-x86_64-linux-gnu.so", "ops/a/_x.so", "ops/b/_x.so",
                            "ops.libs/libz-a34b3233.so.1"}),
                   package({"ops/_C.cpython-312-x86_64-linux-gnu.so", "ops/a/_x.so", "ops/b/_x.so",
                            "ops_libs/libz-24e2ab19.so.1"}))
            .empty());
  CHECK(changes_of(package({"ops/_C.cpython-311-x86_64-linux-gnu.so",
                            "ops/_C.cpython-312-x86_64-linux-gnu.so", "ops/_D.so"}),
                   package({"ops/_C.cpython-311-x86_64-linux-gnu.so", "ops/_D.abi3.so"})) ==
        Lines{"breaking major ops/_C.cpython-312-x86_64-linux-gnu.so: no such library any more"});
}

TEST_CASE("a soname is another one where more than a digest differs") {
  CHECK(library_changes(R"("soname": "libops.so.1")", R"("soname": "libops.so.2")").size() == 1);
  CHECK(
      library_changes(R"("soname": "libops-a34b3233.so.1")", R"("soname": "libops-24e2ab19.so.1")")
          .empty());
}

}  // namespace opseal::test
