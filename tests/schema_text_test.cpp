#include "opseal/schema_text.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "opseal/registration.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

OperatorSchema torch_schema(std::string_view text) {
  const std::optional<OperatorSchema> schema = read_torch_schema(text);
  REQUIRE_MESSAGE(schema.has_value(), text);
  return *schema;
}

TEST_CASE("torch schema: name, arguments, results") {
  const OperatorSchema schema = torch_schema(
      "aten::add.out(Tensor self, Tensor? other=None, *, Scalar alpha=1, Tensor(a!) out) -> "
      "Tensor(a!)");
  CHECK(schema.name == "aten::add.out");
  REQUIRE(schema.inputs.size() == 4);
  CHECK(schema.inputs[0].is_tensor());
  CHECK(schema.inputs[0].name == "self");
  CHECK(!schema.inputs[0].mutated());
  CHECK(!schema.inputs[0].keyword_only);
  CHECK(schema.inputs[1].optional);
  CHECK(schema.inputs[1].default_value == "None");
  CHECK(schema.inputs[2].type == "Scalar");
  CHECK(schema.inputs[2].default_value == "1");
  CHECK(schema.inputs[2].keyword_only);
  CHECK(schema.inputs[3].alias == "a!");
  CHECK(schema.inputs[3].mutated());
  REQUIRE(schema.outputs.size() == 1);
  CHECK(schema.outputs[0].name.empty());
  CHECK(schema.says_mutation);
}

TEST_CASE("torch schema: quoted defaults hold commas, brackets and escaped marks") {
  const OperatorSchema schema = torch_schema(
      R"(aten::_test(Tensor dummy, str a="\"\'\\", str b='),(', int[2] c=[1, 1]) -> Tensor)");
  REQUIRE(schema.inputs.size() == 4);
  CHECK(schema.inputs[1].default_value == R"("\"\'\\")");
  CHECK(schema.inputs[2].default_value == "'),('");
  CHECK(schema.inputs[3].lists == 1);
  CHECK(schema.inputs[3].default_value == "[1, 1]");
}

TEST_CASE("torch schema: marks of lists, options and aliases in any order") {
  const OperatorSchema schema = torch_schema(
      "x::y(Tensor(a!)[] a, Tensor[](b!) b, Tensor?[] c, Tensor(b|a) d, Tensor($0! -> ) e, "
      "Dict(str, Tensor)(c!) f, Future(t) g, __torch__.torch.classes.c.Group h, (Tensor, int) i, "
      "int[2]? j) -> (Tensor(a -> *), Tensor[] r)");
  REQUIRE(schema.inputs.size() == 10);
  CHECK((schema.inputs[0].mutated() && schema.inputs[0].lists == 1));
  CHECK((schema.inputs[1].mutated() && schema.inputs[1].lists == 1));
  CHECK((!schema.inputs[2].optional && schema.inputs[2].is_tensor()));
  CHECK((schema.inputs[3].alias == "b|a" && !schema.inputs[3].mutated()));
  CHECK((schema.inputs[4].mutated() && schema.inputs[4].name == "e"));
  CHECK(schema.inputs[5].type == "Dict(str, Tensor)");
  CHECK((schema.inputs[5].mutated() && !schema.inputs[5].is_tensor()));
  CHECK((schema.inputs[6].type == "Future(t)" && schema.inputs[6].alias.empty()));
  CHECK(schema.inputs[7].type == "__torch__.torch.classes.c.Group");
  CHECK((schema.inputs[8].type == "(Tensor, int)" && schema.inputs[8].name == "i"));
  CHECK((schema.inputs[9].optional && schema.inputs[9].lists == 1));
  REQUIRE(schema.outputs.size() == 2);
  CHECK(schema.outputs[0].alias == "a -> *");
  CHECK(schema.outputs[1].name == "r");
}

TEST_CASE("torch schema: types are put together again, without their alias marks") {
  std::string types;
  for (const SchemaOperand& operand :
       torch_schema("x::y(Tensor(a!)[] a, Tensor[](b!)? b, Tensor?[] c, Tensor(a!)? d, int[2]? e, "
                    "Dict(str, Tensor) f, (Tensor, int)[] g, SymInt h=1) -> ()")
           .inputs) {
    types += torch_type_text(operand) + "; ";
  }
  CHECK(types ==
        "Tensor[]; Tensor[]?; Tensor?[]; Tensor?; int[2]?; Dict(str, Tensor); (Tensor, int)[]; "
        "SymInt; ");
}

TEST_CASE("torch schema: open ends, no results, no name, inferred names") {
  const OperatorSchema open = torch_schema("static_runtime::unpack(...) -> ...");
  CHECK((open.more_inputs && open.more_outputs && open.inputs.empty() && open.outputs.empty()));
  CHECK(torch_schema("x::y(int n) -> ()").outputs.empty());
  CHECK(torch_schema("(Tensor x) -> Tensor").name.empty());
  CHECK(!torch_schema("c10d::reduce_(Tensor[] _0, int _1) -> (Tensor[] _0)").says_mutation);
  CHECK(torch_schema("x::none() -> Tensor").says_mutation);
}

TEST_CASE("torch schema: blanks may stand before an alias mark") {
  const OperatorSchema schema =
      torch_schema("x::y(Tensor (a!)[] a, *, Tensor  (b!) out) -> Tensor (b!)");
  CHECK(schema.inputs[0].alias == "a!");
  CHECK(torch_type_text(schema.inputs[0]) == "Tensor[]");
  CHECK(schema.inputs[1].name == "out");
  CHECK(schema.outputs[0].alias == "b!");
  CHECK(torch_type_text(schema.outputs[0]) == "Tensor");
  const OperatorSchema spaced = torch_schema("x::y(Tensor []a, Tensor ? b) -> Tensor");
  CHECK(spaced.inputs[0].lists == 1);
  CHECK(spaced.inputs[0].name == "a");
  CHECK(spaced.inputs[1].optional);
  CHECK(spaced.inputs[1].name == "b");
}

TEST_CASE("torch schema: blanks may stand before every other mark, and the name against it") {
  const OperatorSchema schema = torch_schema(
      "x::y(Tensor !a, Tensor ? b, Tensor []c, int [2] d, Tensor ? [] e) -> Tensor []");
  REQUIRE(schema.inputs.size() == 5);
  CHECK((schema.inputs[0].mutated() && schema.inputs[0].name == "a"));
  CHECK((schema.inputs[1].optional && schema.inputs[1].name == "b"));
  CHECK((schema.inputs[2].lists == 1 && schema.inputs[2].name == "c"));
  CHECK((schema.inputs[3].lists == 1 && torch_type_text(schema.inputs[3]) == "int[2]"));
  CHECK((!schema.inputs[4].optional && torch_type_text(schema.inputs[4]) == "Tensor?[]"));
  CHECK((schema.outputs[0].lists == 1 && schema.outputs[0].name.empty()));
}

TEST_CASE("torch schema: what is none is no schema") {
  for (const char* text : {"", "x", "x::y(", "x::y(Tensor a", "x::y(Tensor a)", "x::y(Tensor a) ->",
                           "x::y(Tensor a,) -> Tensor", "x::y(str a=\") -> Tensor", "x::y)(",
                           "x::y(Tensor a b) -> Tensor", "void f(int a) {}", "x::y(()) ->",
                           "x::y() -> (,)", "x::y(Tensor a, , int b) -> Tensor"}) {
    CHECK_MESSAGE(!read_torch_schema(text).has_value(), text);
  }
}

TEST_CASE("tvm-ffi schema: both forms") {
  const auto named = read_tvm_schema(
      R"({"type":"ffi.Function","named_args":{"return":[{"type":"None"}],"params":[{"type":"DLTensor*"},)"
      R"({"type":"Optional","args":[{"type":"ffi.Array","args":[{"type":"ffi.Tensor"}]}]},{"type":"int"}]}})");
  REQUIRE(named.has_value());
  REQUIRE(named->inputs.size() == 3);
  CHECK(named->inputs[0].is_tensor());
  CHECK((named->inputs[1].is_tensor() && named->inputs[1].optional && named->inputs[1].lists == 1));
  CHECK(!named->inputs[2].is_tensor());
  CHECK(named->outputs.empty());
  CHECK(!named->says_mutation);
  const auto plain =
      read_tvm_schema(R"({"type": "ffi.Function", "args": [{"type": "int"}, {"type": "Any"}]})");
  REQUIRE(plain.has_value());
  CHECK((plain->inputs.size() == 1 && plain->outputs.size() == 1));
  for (const char* text :
       {R"({"type":"ffi.Function"})", R"({"type":"int","args":[{"type":"int"}]})",
        R"({"type":"ffi.Function","args":[{"type":"int"})", "{", "{}]",
        R"({"type":"ffi.Function","args":[{]}})"}) {
    CHECK_MESSAGE(!read_tvm_schema(text).has_value(), text);
  }
}

// The exporter split the same texts into operands with another parser.
TEST_CASE("schema texts of the recorded registries agree with their operands") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(OPSEAL_SOURCE_DIR) / "../shared/data/manifests";
  if (!fs::is_directory(folder)) {
    MESSAGE("no folder with recorded registries");
    return;
  }
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    std::ifstream stream(file.path());
    const Facts facts = read_text(std::string(std::istreambuf_iterator<char>(stream), {}));
    for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
      const Fact text = op[Key::schema];
      if (!text.is_text()) return;
      const std::optional<OperatorSchema> schema = read_schema(text);
      const bool typed = !manifest[Key::system].is("tvm-ffi") || op[Key::inputs].said();
      CHECK_MESSAGE(schema.has_value() == typed, text.text());
      if (!schema || !op[Key::inputs].is_list()) return;
      std::size_t tensors = 0;
      std::size_t mutated = 0;
      for (const SchemaOperand& input : schema->inputs) {
        if (input.type.find("Tensor") != input.type.npos) ++tensors;
        if (input.mutated()) ++mutated;
      }
      std::size_t said_mutated = 0;
      for (const Fact operand : op[Key::inputs].items())
        said_mutated += operand[Key::mutated].truth();
      CHECK_MESSAGE(tensors == op[Key::inputs].size(), text.text());
      CHECK_MESSAGE(mutated == said_mutated, text.text());
    });
  }
}

}  // namespace
}  // namespace opseal::test
