// The YAML files of PyTorch's code generator, as data.

#include "analyzers/native_functions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/yaml_tree.h"

namespace opseal::test {
namespace {

using nlohmann::json;

constexpr std::string_view functions = R"(# comment
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  ufunc_inner_loop:
    Generic: add (AllAndComplex)
  dispatch:
    SparseCPU, SparseCUDA: add_out_sparse
    MPS: add_out_mps

- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: add.out
  dispatch:
    MkldnnCPU: mkldnn_add
  tags: [core, pointwise]

- func: mine::both(Tensor? x, Tensor[] y, str s="a, (") -> (Tensor first, Tensor(a)[] rest, int)
  variants: function
  autogen: both.out, mine::both_functional
)";

constexpr std::string_view derivatives = R"(
- name: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  self, alpha: grad
  other: non_differentiable
  result: auto_linear

- name: mine::both(Tensor? x, Tensor[] y, str s="a, (") -> (Tensor first, Tensor(a)[] rest, int)
  output_differentiability: [True, False]
  dispatch:
    Default:
      x: grad
    AutogradNestedTensor:
      y: grads

- name: both.out(Tensor x) -> Tensor
  x: grad

- name: nowhere(Tensor x) -> Tensor
  x: grad
)";

constexpr std::string_view backend = R"(
backend: XLA
cpp_namespace: torch_xla
supported:
- add.Tensor
- missing
autograd:
- mine::both
)";

std::vector<NativeFunctionsFile> files(std::vector<std::string_view> texts) {
  std::vector<NativeFunctionsFile> made;
  for (const std::string_view text : texts) {
    made.push_back({"file" + std::to_string(made.size()) + ".yaml", std::string(text)});
  }
  return made;
}

json manifest_of(const NativeFunctionsResult& result) {
  REQUIRE(!result.manifest.empty());
  return json::parse(result.manifest);
}

const json& operator_named(const json& manifest, std::string_view name) {
  const auto found = std::ranges::find_if(
      manifest["operators"], [name](const json& each) { return each["name"] == name; });
  REQUIRE(found != manifest["operators"].end());
  return *found;
}

std::vector<std::string> platforms(const json& each) {
  std::vector<std::string> found;
  for (const json& kernel : each["kernels"]) found.push_back(kernel["platform"]);
  return found;
}

// What is said of a YAML text that is refused.
std::string refusal(const std::string& text) {
  try {
    read_yaml(text);
  } catch (const YamlError& error) {
    return std::to_string(error.place.line) + ":" + std::to_string(error.place.column) + ": " +
           error.what();
  }
  return "accepted";
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t time = 0; time < times; ++time) out += text;
  return out;
}

}  // namespace

TEST_CASE("functions become operators with schemas, kernels and generated names") {
  const auto result = native_functions_manifest(files({functions}), "1.2.3");
  const std::string remark = "no file of derivatives, so gradients are not said";
  CHECK(result.messages == std::vector{remark});
  const json manifest = manifest_of(result);
  CHECK(manifest["remarks"] == json::array({remark}));
  CHECK(manifest["system"] == "torch");
  CHECK(manifest["producer"]["version"] == "1.2.3");
  REQUIRE(manifest["operators"].size() == 5);

  const json& out = manifest["operators"][0];
  CHECK(out["name"] == "aten::add.out");
  CHECK(out["namespace"] == "aten");
  CHECK(out["location"] == json{{"file", "file0.yaml"}, {"line", 2}, {"column", 9}});
  CHECK(out["inputs"][2] == json{{"name", "out"}, {"mutated", true}, {"alias", "a!"}});
  CHECK(out["attributes"] == json::parse(R"([{"name": "alpha", "type": "Scalar"}])"));
  CHECK(platforms(out) ==
        std::vector<std::string>{"SparseCPU", "SparseCUDA", "MPS", "CPU", "CUDA"});
  CHECK(out["kernels"][1]["symbol"] == "add_out_sparse");
  CHECK(out["kernels"][1]["location"]["line"] == 7);

  const json& delegating = manifest["operators"][1];
  CHECK(platforms(delegating) == std::vector<std::string>{"MkldnnCPU", "CPU", "CUDA", "MPS"});
  CHECK(delegating["tags"] == json::array({"core", "pointwise"}));

  const json& both = operator_named(manifest, "mine::both");
  CHECK(platforms(both) == std::vector<std::string>{"CompositeImplicitAutograd"});
  CHECK(both["inputs"].size() == 2);
  CHECK(both["inputs"][0]["optional"] == true);
  CHECK(both["outputs"] == json::parse(R"([{"name": "first"},
      {"name": "rest", "mutated": false, "alias": "a", "type": "Tensor[]"}, {"type": "int"}])"));
  CHECK(!operator_named(manifest, "aten::both.out").contains("kernels"));
  CHECK(!operator_named(manifest, "mine::both_functional").contains("schema"));
}

TEST_CASE("derivatives and backends add to the operators, in whatever order the files come") {
  const auto result = native_functions_manifest(files({backend, derivatives, functions}), "1");
  const json manifest = manifest_of(result);
  CHECK(result.messages ==
        std::vector<std::string>{
            "file1.yaml:18:9: a derivative for `aten::nowhere`, which no file declares",
            "file0.yaml:6:3: a kernel for `aten::missing`, which no file declares"});
  CHECK(manifest["remarks"].size() == 2);

  const json& add = operator_named(manifest, "aten::add.Tensor");
  CHECK(add["gradient"]["function"]["location"]["file"] == "file1.yaml");
  CHECK(add["inputs"][0]["differentiable"] == true);
  CHECK(add["inputs"][1]["differentiable"] == false);
  CHECK(platforms(add).back() == "XLA");
  CHECK(add["kernels"].back()["package"] == "torch_xla");

  const json& both = operator_named(manifest, "mine::both");
  CHECK(both["inputs"][0]["differentiable"] == true);
  CHECK(!both["inputs"][1].contains("differentiable"));
  CHECK(both["outputs"][0]["differentiable"] == true);
  CHECK(both["outputs"][1]["differentiable"] == false);
  CHECK(platforms(both).back() == "AutogradXLA");
  CHECK(operator_named(manifest, "aten::both.out").contains("gradient"));
  CHECK(!operator_named(manifest, "aten::add.out").contains("gradient"));
}

TEST_CASE("a file that can't be read is said with its place") {
  const auto message = [](std::vector<std::string_view> texts) {
    const auto result = native_functions_manifest(files(texts), "1");
    CHECK(result.manifest.empty());
    REQUIRE(result.messages.size() == 1);
    return result.messages[0];
  };
  CHECK(message({functions, "- func: [\n"}).starts_with("file1.yaml:2:1: "));
  CHECK(message({"just: a map"}).starts_with("file0.yaml:1:1: neither functions, derivatives nor"));
  CHECK(message({""}).starts_with("file0.yaml:1:1: neither functions"));
  CHECK(message({derivatives}) == "no file declares functions, expected one with a list of `func`");
  CHECK(message({}) == "no file declares functions, expected one with a list of `func`");
}

TEST_CASE("a bad entry costs only itself") {
  const auto result = native_functions_manifest(
      files({"- func: a(Tensor x) -> Tensor\n- func: b(Tensor x\n- func: (Tensor x) -> Tensor\n- "
             "other: 1\n- func: [1]\n"
             "- func: c(Tensor x) -> Tensor\n  structured_delegate: gone\n"}),
      "1");
  const json manifest = manifest_of(result);
  REQUIRE(manifest["operators"].size() == 3);
  CHECK(manifest["operators"][1]["name"] == "aten::b");
  CHECK(!manifest["operators"][1].contains("schema"));
  CHECK(!manifest["operators"][1].contains("kernels"));
  CHECK(!manifest["operators"][2].contains("kernels"));
  CHECK(result.lost == 4);
  REQUIRE(result.messages.size() == 6);
  CHECK(result.messages[0] == "file0.yaml:2:9: the schema `b(Tensor x` cannot be read");
  CHECK(result.messages[4].find("`gone`, which no file declares") != std::string::npos);
}

TEST_CASE("kernels are said only where `dispatch` can be read") {
  const auto result = native_functions_manifest(
      files({"- func: a(Tensor x) -> Tensor\n  dispatch:\n  structured_delegate:\n"
             "- func: b(Tensor x) -> Tensor\n  dispatch: CPU\n"
             "- func: c(Tensor x) -> Tensor\n  dispatch: [CPU]\n"
             "- func: d(Tensor x) -> Tensor\n  structured_delegate: b\n"
             "- func: e(Tensor x\n"
             "- func: f(Tensor x) -> Tensor\n  structured_delegate: e\n"}),
      "1");
  const json manifest = manifest_of(result);
  CHECK(platforms(operator_named(manifest, "aten::a")) ==
        std::vector<std::string>{"CompositeImplicitAutograd"});
  for (const char* name : {"aten::b", "aten::c", "aten::d", "aten::e", "aten::f"}) {
    CAPTURE(name);
    CHECK(!operator_named(manifest, name).contains("kernels"));
  }
  REQUIRE(result.messages.size() == 4);
  CHECK(result.messages[0] ==
        "file0.yaml:5:13: `dispatch` is no map, so the kernels of `aten::b` are not said");
  CHECK(result.lost == 1);
}

TEST_CASE("a backend's file is read as a whole, or what isn't is said") {
  const std::string_view few = "- func: a(Tensor x) -> Tensor\n- func: b(Tensor x) -> Tensor\n";
  const auto read = [few](std::string_view text) {
    return native_functions_manifest(
        files({few, text, "- name: a(Tensor x) -> Tensor\n  x: grad\n"}), "1");
  };
  const auto whole = read("backend: Lazy\nsupported: [a]\nfull_codegen: [b]\nautograd:\n");
  CHECK(whole.messages.empty());
  CHECK(whole.lost == 0);
  const json manifest = manifest_of(whole);
  CHECK(platforms(operator_named(manifest, "aten::a")).back() == "Lazy");
  CHECK(platforms(operator_named(manifest, "aten::b")).back() == "Lazy");
  const auto partial = read("backend: Lazy\nsuported: [a]\nautograd: a\nfull_codegen: [[b]]\n");
  CHECK(partial.messages ==
        std::vector<std::string>{
            "file1.yaml:2:1: unknown key `suported` of a backend; did you mean `supported`?",
            "file1.yaml:4:16: an element of `full_codegen` that is no text is not said",
            "file1.yaml:3:11: `autograd` is no list of operators"});
  CHECK(partial.lost == 2);
  CHECK(read("backend: [Lazy]\nsupported: [a]\n").lost == 1);
}

TEST_CASE("texts that would take too long or hide what they hold are refused") {
  CHECK(refusal("a: 1\nb: [x, {c: d}]\n") == "accepted");
  CHECK(refusal("") == "accepted");
  CHECK(refusal("a: &x 1\nb: *x\n") == "2:4: an alias, expected the value itself");
  CHECK(refusal("a: 1\nb: 2\na: 3\n") == "3:1: key `a` stands twice in one map, first in line 1");
  CHECK(refusal("? [a]\n: 1\n") == "1:3: a key that is no text");
  CHECK(refusal("a\n---\nb\n").ends_with("a second document, expected one"));
  CHECK(refusal(repeated("[", 31) + repeated("]", 31)) == "accepted");
  CHECK(refusal(repeated("[", 100000)).ends_with("more than 32 lists and maps in each other"));
  CHECK(refusal(repeated("- ", 100000)).ends_with("more than 32 lists and maps in each other"));
  CHECK(
      refusal("[" + repeated("a,\n", max_yaml_values) + "]").ends_with("more than 1000000 values"));
  CHECK(refusal("a: 1\n[" + repeated("a,", max_yaml_line_bytes / 2) + "]") ==
        "2:1: a line of 1048578 bytes, expected at most 1048576");
  CHECK(refusal(std::string(max_yaml_bytes + 1, ' ')).find("expected at most") !=
        std::string::npos);
}

TEST_CASE("many entries that point at one operator stay linear") {
  std::string many = "- func: o.out(Tensor(a!) x) -> Tensor(a!)\n  structured: True\n  dispatch:\n";
  for (int number = 0; number < 20000; ++number) {
    many += "    CPU, K" + std::to_string(number) + ": f\n";
  }
  many += repeated("- func: o(Tensor x) -> Tensor\n  structured_delegate: o.out\n", 20000);
  // Of this process alone: the machine may be busy. Each with each would take minutes.
  const std::clock_t start = std::clock();
  const auto result = native_functions_manifest(files({many}), "1");
  CHECK(!result.manifest.empty());
  CHECK((std::clock() - start) / CLOCKS_PER_SEC < 30);
}

}  // namespace opseal::test
