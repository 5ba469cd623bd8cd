// What is a list of kernels of ExecuTorch, and what it says.

#include <doctest/doctest.h>

#include <string>

#include "analyzers/analyzers.h"
#include "opseal/facts.h"

namespace opseal::test {
namespace {

std::string kind_of(const std::string& text) {
  InputFile input;
  input.path = "functions.yaml";
  input.bytes = text;
  input.size = text.size();
  std::string error;
  const Analyzer* analyzer = find_analyzer(input, error);
  return analyzer == nullptr ? "none" : std::string(analyzer->name);
}

Facts read(const std::string& text) {
  InputFile input;
  input.path = "functions.yaml";
  input.bytes = text;
  input.size = text.size();
  std::string error;
  const Analyzer* analyzer = find_analyzer(input, error);
  REQUIRE(analyzer != nullptr);
  return load_file(*analyzer, std::move(input));
}

constexpr const char* one = "- op: add.out\n  kernels:\n    - kernel_name: lib::add_out\n";

}  // namespace

TEST_CASE("a list of kernels is known by its first element") {
  CHECK(kind_of(one) == "kernel list");
  CHECK(kind_of(std::string("# A comment.\n\n---\n") + one) == "kernel list");
  // The first look ends within the comments, and the whole file is asked for.
  CHECK(kind_of("#" + std::string(6000, '-') + "\n" + one) == "kernel list");
  CHECK(kind_of("#" + std::string(100'000, '-') + "\n" + one) == "none");
  CHECK(kind_of("- func: add.out(Tensor a) -> Tensor\n  dispatch:\n    CPU: add_out\n") == "none");
  CHECK(kind_of("- name: test\n  kernel_name: add\n") == "none");
  CHECK(kind_of("# nothing\n") == "none");
  CHECK(kind_of("") == "none");
}

TEST_CASE("operators of ATen and schemas of others, each at its place") {
  const Facts facts = read(std::string(one) +
                           "- func: lib::mul.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)\n"
                           "  kernels:\n    - arg_meta: null\n      kernel_name: lib::mul_out\n"
                           "- note: nothing\n");
  CHECK(facts.problems.empty());
  REQUIRE(facts.documents.size() == 1);
  const Fact root = facts.root(facts.documents.front());
  REQUIRE(root[Key::operators].size() == 2);
  auto item = root[Key::operators].items().begin();
  const Fact add = *item;
  ++item;
  const Fact mul = *item;
  CHECK(add[Key::name].is("aten::add.out"));
  CHECK(add[Key::namespace_].is("aten"));
  CHECK(!add[Key::schema].said());
  CHECK(add.where().offset == 6);
  CHECK(mul[Key::name].is("lib::mul.out"));
  CHECK(mul[Key::schema].is("lib::mul.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)"));
  const Fact kernel = *mul[Key::kernels].items().begin();
  CHECK(kernel[Key::function][Key::name].is("lib::mul_out"));
}

TEST_CASE("what is no YAML is a problem at its place") {
  const Facts facts = read(std::string(one) + "- op: [\n");
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.documents.empty());
}

}  // namespace opseal::test
