#include <doctest/doctest.h>

#include <string>

#include "opseal/platforms.h"
#include "rules/odd_one_out.h"
#include "rules/operand_dtypes.h"
#include "rules/operator_index.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

std::string operator_text(const std::string& name, const std::string& more) {
  return R"({"name": ")" + name + R"(")" + more + "},";
}

Facts read_operators(std::string operators) {
  operators.pop_back();
  return read_text(R"({"opseal_manifest": 1, "operators": [)" + operators + "]}");
}

// Operators that the odd one out is held against, of `keeping` that keep a convention and `lacking`
// that don't.
std::uint64_t odd_ones(int keeping, int lacking) {
  const std::string cpu = R"(, "namespace": "lib", "kernels": [{"platform": "cpu"}])";
  std::string operators;
  for (int i = 0; i < keeping; ++i) operators += operator_text("keeps", cpu);
  for (int i = 0; i < lacking; ++i) operators += operator_text("lacks", cpu);
  const Facts facts = read_operators(operators);
  OddOneOut peers;
  for_each_operator(facts, [&peers](const Fact& manifest, const Fact& op) {
    peers.count(manifest, op, op[Key::name].is("keeps"));
  });
  std::uint64_t odd = 0;
  peers.for_each_lacking(
      [&odd](const OddOneOut::Lacking& judged) { odd += judged.is_odd() ? 1 : 0; });
  return odd;
}

Fact only(const std::vector<Fact>& found) { return found.size() == 1 ? found.front() : Fact(); }

}  // namespace

TEST_CASE("an operator is odd where at least 5 peers keep a convention to at least 90 of 100") {
  CHECK(odd_ones(4, 1) == 0);
  CHECK(odd_ones(5, 1) == 1);
  CHECK(odd_ones(9, 2) == 2);
  CHECK(odd_ones(8, 2) == 0);
  CHECK(odd_ones(6, 0) == 0);
}

TEST_CASE("peers have the same namespace and the same devices") {
  std::string operators;
  for (const char* platforms : {R"({"platform": "cpu"}, {"platform": "Meta"})",
                                R"({"platform": "cpu"}, {"platform": "cpu", "backend": "b"})",
                                R"({"platform": "cpu"}, {"platform": "gpu", "active": false})",
                                R"({"platform": "gpu"})", ""}) {
    operators += operator_text("x", R"(, "kernels": [)" + std::string(platforms) + "]");
  }
  const Facts facts = read_operators(operators);
  OddOneOut peers;
  for (int i = 0; i < 2; ++i) {
    for_each_operator(
        facts, [&peers](const Fact& manifest, const Fact& op) { peers.count(manifest, op, true); });
  }
  // Three of the five are one group, counted twice; the others have too few peers.
  CHECK(peers.judged_keeping() == 6);
}

TEST_CASE("dtypes of many spellings are floating, integers, truth values or unknown") {
  for (const char* dtype : {"f32", "float32", "torch.bfloat16", "tensor(float16)", "F16", "DT_HALF",
                            "c10::Half", "kFLOAT", "float8_e4m3fn", "complex64", "Double", "fp8"}) {
    INFO(dtype);
    CHECK(number_kind(dtype) == NumberKind::floating);
  }
  for (const char* dtype : {"i32", "int64", "tensor(uint8)", "Long", "s8", "GGML_TYPE_I32"}) {
    INFO(dtype);
    CHECK(number_kind(dtype) == NumberKind::integer);
  }
  for (const char* dtype : {"bool", "pred", "tensor(bool)", "kTfLiteBool"}) {
    INFO(dtype);
    CHECK(number_kind(dtype) == NumberKind::boolean);
  }
  for (const char* dtype : {"q4_0", "Q8_0", "qint8", "float0", "string", "", ".", "Tensor?[]",
                            "seq(tensor(float))", "key<fry>", "c10::qint8", "iq4_xs"}) {
    INFO(dtype);
    CHECK(number_kind(dtype) == NumberKind::unknown);
  }
}

TEST_CASE("a file's name is quoted wherever a message names a place") {
  const Facts facts = read_operators(
      operator_text("mul", R"(, "location": {"file": "a`\u001b[31m.py", "line": 3}, "gradient": )"
                           R"({"function": {"name": "bwd", "location": {"file": "b\u0007.py"}}})"));
  const Fact op = *facts.root(facts.documents.front())[Key::operators].items().begin();
  CHECK(place_text(op[Key::location]).find('\x1b') == std::string::npos);
  CHECK(site_of(op) == " (registered at " + place_text(op[Key::location]) + ")");
  CHECK(function_text(op[Key::gradient][Key::function]) == "`bwd` (`b\\x07.py`)");
  CHECK(place_text(op[Key::inputs]).empty());
}

TEST_CASE("chains of platform aliases end, rings too") {
  const Facts facts = read_text(
      R"({"opseal_manifest": 1, "platform_aliases": {"a": "b", "b": "c", "x": "y", "y": "x"}, )"
      R"("platforms": ["a", "b", "c", "x", "y", "z"]})");
  const Fact manifest = facts.root(facts.documents.front());
  PlatformNames names(manifest);
  std::vector<Name> words;
  for (const Fact word : manifest[Key::platforms].items()) words.push_back(word.name());
  CHECK(names.resolve(words[1]) == words[2]);
  CHECK(names.resolve(words[0]) == words[2]);
  CHECK(names.resolve(words[2]) == words[2]);
  CHECK(names.resolve(words[3]) == names.resolve(words[4]));
  CHECK(names.resolve(words[5]) == words[5]);
}

TEST_CASE("an operator is found by name, alias and namespace, its own manifest first") {
  const Facts facts =
      read_operators(operator_text("a::mul", R"(, "namespace": "a")") +
                     operator_text("mul", R"(, "namespace": "b")") +
                     operator_text("add", R"(, "namespace": "b", "aliases": ["add_p", "add"])"));
  const OperatorIndex index(facts);
  const Fact manifest = facts.root(facts.documents.front());
  std::vector<Fact> ops;
  for (const Fact op : manifest[Key::operators].items()) ops.push_back(op);
  CHECK(only(index.find(manifest, ops[0], "mul")) == ops[0]);
  CHECK(only(index.find(manifest, ops[2], "mul")) == ops[1]);
  CHECK(only(index.find(manifest, ops[2], "a::mul")) == ops[0]);
  CHECK(only(index.find(manifest, ops[0], "b::mul")) == ops[1]);
  CHECK(only(index.find(manifest, ops[2], "add_p")) == ops[2]);
  CHECK(only(index.find(manifest, ops[2], "add")) == ops[2]);
  CHECK(index.find(manifest, ops[0], "c::mul").empty());
  CHECK(index.find(manifest, ops[0], "sub").empty());
  CHECK(index.has_namespace("a"));
  CHECK_FALSE(index.has_namespace("c"));
}

TEST_CASE("a name with hundreds of bearers names nobody") {
  std::string operators;
  for (int i = 0; i < 100; ++i) operators += operator_text("same", "");
  const Facts facts = read_operators(operators);
  const Fact manifest = facts.root(facts.documents.front());
  const Fact first = *manifest[Key::operators].items().begin();
  CHECK(OperatorIndex(facts).find(manifest, first, "same").empty());
}

}  // namespace opseal::test
