// Schemas and operands of one operator in two dumps.

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "compare/call_signature.h"
#include "tests/diff_support.h"

namespace opseal::test {
namespace {

// Of `a::f(ARGUMENTS) -> RESULTS`.
std::string schema_change(std::string_view before, std::string_view after) {
  const auto schema = [](std::string_view text) {
    return R"("schema": "a::f()" + std::string(text) + '"';
  };
  return change_of(schema(before), schema(after));
}

std::string argument_change(std::string_view before, std::string_view after) {
  return schema_change(std::string(before) + ") -> Tensor", std::string(after) + ") -> Tensor");
}

}  // namespace

TEST_CASE("lists of another length are other types") {
  CHECK(argument_change("int[2] e=1", "int[] e=1") ==
        "breaking major mv: argument `e` is a `int[]`, before a `int[2]`");
  CHECK(argument_change("int[2] e=1", "int[3] e=1") ==
        "breaking major mv: argument `e` is a `int[3]`, before a `int[2]`");
  CHECK(argument_change("int e", "int[2] e") ==
        "additive minor mv: argument `e` is a `int[2]`, before a `int`");
}

TEST_CASE("a type that takes all that the old one took is additive") {
  CHECK(argument_change("int e", "float? e").starts_with("additive"));
  CHECK(argument_change("Tensor[] e", "Tensor?[] e").starts_with("additive"));
  CHECK(argument_change("Tensor?[] e", "Tensor[] e").starts_with("breaking"));
  CHECK(argument_change("float e", "int e").starts_with("breaking"));
  CHECK(argument_change("str e", "Scalar e").starts_with("breaking"));
}

TEST_CASE("defaults are compared by value") {
  CHECK(argument_change("float e=1e-05", "float e=0.00001") == "");
  CHECK(argument_change("bool e=True", "bool e=1") == "");
  CHECK(argument_change("str e='x'", "str e='y'").starts_with("numerics"));
  CHECK(same_default("\"x\"", "'x'"));
  CHECK(!same_default("'1'", "1"));
  CHECK(!same_default("None", "0"));
  CHECK(!same_default("", "0"));
}

TEST_CASE("arguments that are passed another way, or in any number, are told") {
  CHECK(
      argument_change("Tensor x, Tensor y, *, int k=1", "int k, Tensor x, Tensor y")
          .find("breaking major mv: argument `k` is passed by position too, in front of others") !=
      std::string::npos);
  CHECK(argument_change("Tensor x, *, int k=1", "Tensor x, int k=1") ==
        "additive minor mv: argument `k` is passed by position too");
  CHECK(argument_change("Tensor x", "Tensor x, ...") ==
        "additive minor mv: takes any number of further arguments, before none");
  CHECK(argument_change("Tensor x, ...", "Tensor x") ==
        "breaking major mv: takes no further arguments, before any number");
  CHECK(schema_change("Tensor x) -> (Tensor values, Tensor at)",
                      "Tensor x) -> (Tensor values, Tensor indices)") ==
        "breaking major mv: output 1 has the name `indices`, before `at`");
  CHECK(schema_change("Tensor x) -> Tensor", "Tensor x) -> Tensor out") ==
        "additive minor mv: output 0 has the name `out`, before no name");
  CHECK(schema_change("Tensor x) -> (Tensor _0, Tensor _1)", "Tensor x) -> (Tensor, Tensor)") ==
        "");
}

TEST_CASE("another count of operands hides nothing else") {
  CHECK(change_of(
            R"("inputs": [{"name": "x", "dtypes": ["f32", "f16"]}])",
            R"("inputs": [{"name": "x", "dtypes": ["f32"]}, {"name": "y", "optional": true}])") ==
        "additive minor mv: takes 1 to 2 inputs, before 1 input / "
        "breaking major mv: input `x` lost `f16`");
  CHECK(change_of(R"("inputs": [{"dtypes": ["f32", "f16"]}, {}])",
                  R"("inputs": [{"dtypes": ["f32"]}])") ==
        "breaking major mv: takes 1 input, before 2 inputs / "
        "breaking major mv: input 0 lost `f16`");
}

TEST_CASE("a schema text hides nothing that it does not say") {
  const auto op = [](std::string_view schema, std::string_view facts) {
    return R"("schema": "a::f()" + std::string(schema) + R"(", )" + std::string(facts);
  };
  const std::string_view wide = R"("inputs": [{"name": "x", "dtypes": ["f32", "f16"]}])";
  const std::string_view narrow = R"("inputs": [{"name": "x", "dtypes": ["f32"]}])";
  CHECK(change_of(op("Tensor x) -> Tensor", wide), op("Tensor x) -> Tensor", narrow)) ==
        "breaking major mv: input 0 lost `f16`");
  CHECK(change_of(op("Tensor x) -> Tensor", wide), op("Tensor x, int k=1) -> Tensor", narrow)) ==
        "additive minor mv: new argument `k` with the default `1` / "
        "breaking major mv: input `x` lost `f16`");
  const std::string_view text = R"("attributes": [{"name": "k", "type": "int"}])";
  const std::string_view other = R"("attributes": [{"name": "k", "type": "str"}])";
  CHECK(change_of(op("Tensor x) -> Tensor", text), op("Tensor x) -> Tensor", other)) ==
        "breaking major mv: attribute `k` is a `str`, before a `int`");
}

TEST_CASE("operands at the same place are compared by type and need") {
  CHECK(change_of(R"("inputs": [{"type": "T"}])", R"("inputs": [{"type": "U"}])") ==
        "breaking major mv: `type` of input 0 is `U`, before `T`");
  CHECK(change_of(R"("inputs": [{"optional": true}])", R"("inputs": [{"optional": false}])")
            .ends_with("breaking major mv: `optional` of input 0 is `false`, before `true`"));
}

}  // namespace opseal::test
