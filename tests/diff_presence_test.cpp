// Kernels and registrations that come and go between two dumps, and what that means for users.

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "compare/changes.h"
#include "tests/diff_support.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

// "impact message: meaning" of the changes of one operator.
std::string meanings(std::string_view before, std::string_view after,
                     std::string_view manifest_before = {}, std::string_view manifest_after = {}) {
  const auto dump = [](std::string_view manifest, std::string_view kernels) {
    return R"({"opseal_manifest": 1, "system": "torch", )" + std::string(manifest) +
           R"("operators": [{"name": "mv", "kernels": [)" + std::string(kernels) + "]}]}";
  };
  const Facts facts = read_two(dump(manifest_before, before), dump(manifest_after, after));
  REQUIRE(facts.problems.empty());
  std::string text;
  for (const Change& change : find_changes(facts).list) {
    text += (text.empty() ? "" : " / ") + std::string(to_text(change.impact)) + ' ' +
            change.message + ": " + std::string(change.meaning);
  }
  return text;
}

const std::string cpu = R"({"platform": "CPU"})";
const std::string cuda = R"({"platform": "CUDA"})";
const std::string autograd = R"({"platform": "Autograd"})";
const std::string meta = R"({"platform": "Meta"})";
const std::string explicit_kernel = R"({"platform": "CompositeExplicitAutograd"})";
const std::string implicit_kernel = R"({"platform": "CompositeImplicitAutograd"})";

constexpr std::string_view lost_cuda =
    "breaking no kernel `CUDA` any more: calls on the platform fail or are moved to another";
constexpr std::string_view moved_cuda =
    "speed no kernel `CUDA` any more: calls go to another kernel; who names this one fails";

}  // namespace

TEST_CASE("neither gradients nor kernels for other tensors stand in for a lost kernel") {
  CHECK(meanings(cpu + ',' + cuda + ',' + autograd, cpu + ',' + autograd) == lost_cuda);
  CHECK(meanings(cpu + ',' + cuda, cpu + R"(, {"platform": "SparseCUDA"})") ==
        "additive kernel `SparseCUDA`, before none: it can be called there / " +
            std::string(lost_cuda));
  CHECK(meanings(cpu + ',' + cuda + ',' + explicit_kernel, cpu + ',' + explicit_kernel) ==
        moved_cuda);
  CHECK(meanings(cpu + ',' + cuda, cpu, {}, R"("backend_fallbacks": ["CUDA"], )") == moved_cuda);
}

TEST_CASE("a kernel for a device that one machine lacked is neither lost nor new") {
  const std::string_view both = R"("devices": ["cpu", "cuda"], )";
  const std::string_view one = R"("devices": ["cpu"], )";
  CHECK(meanings(cpu + ',' + cuda, cpu, both, one) == "");
  CHECK(meanings(cpu, cpu + ',' + cuda, one, both) == "");
  CHECK(meanings(cpu + ',' + cuda, cpu, both, both) == lost_cuda);
  CHECK(meanings(cpu + ',' + cuda, cuda, both, both) ==
        "breaking no kernel `CPU` any more: calls on the platform fail or are moved to another");
  CHECK(meanings(cpu + ',' + meta, cpu, both, one) != "");
  const Facts facts = read_two(
      R"({"opseal_manifest": 1, "devices": ["cpu", "cuda"], "operators": [{"name": "mv", "kernels": [{"platform": "cuda"}]}]})",
      R"({"opseal_manifest": 1, "devices": ["cpu"], "operators": [{"name": "mv", "kernels": []}]})");
  CHECK(find_changes(facts).unsaid.at("kernels") == 1);
}

TEST_CASE("a lost gradient is no lost platform") {
  CHECK(meanings(cpu + ',' + autograd, cpu) ==
        "breaking no kernel `Autograd` any more: no gradient flows through it any more, or asking "
        "for one fails");
  CHECK(meanings(implicit_kernel + ',' + autograd, implicit_kernel) ==
        "numerics no kernel `Autograd` any more: gradients come from the operators that it calls");
  CHECK(meanings(autograd, "") ==
        "breaking no kernel `Autograd` any more: nothing else computes a result: calls fail");
  CHECK(meanings(cpu + ',' + autograd + R"(, {"platform": "AutogradCPU"})", cpu + ',' + autograd) ==
        "numerics no kernel `AutogradCPU` any more: gradients come from another kernel");
  CHECK(meanings(cpu, cpu + ',' + autograd) ==
        "additive kernel `Autograd`, before none: gradients of it are computed by it");
}

TEST_CASE("a lost kernel for shapes fails without data") {
  CHECK(meanings(cpu + ',' + meta, cpu) ==
        "breaking no kernel `Meta` any more: calls without data, as `torch.compile` makes them, "
        "fail");
  CHECK(meanings(explicit_kernel + ',' + meta, explicit_kernel) ==
        "speed no kernel `Meta` any more: shapes of results come from another kernel");
  CHECK(meanings(cpu, cpu + ',' + meta) ==
        "additive kernel `Meta`, before none: shapes of results are known without data");
}

TEST_CASE("a respelling is no change") {
  const auto dtypes = [](std::string_view words) {
    return R"("kernels": [{"platform": "cpu", "dtypes": [)" + std::string(words) + "]}]";
  };
  CHECK(change_of(dtypes(R"("float", "half")"), dtypes(R"("f32", "f16")")) == "");
  CHECK(change_of(dtypes(R"("f64", "half")"), dtypes(R"("float", "f16")")) == "");
  CHECK(change_of(dtypes(R"("float", "half")"), dtypes(R"("f32")")) ==
        "breaking major mv: kernel `cpu` lost `f16`");
  CHECK(changes_of(manifest_of(R"("platforms": ["cpu", "CUDA"])"),
                   manifest_of(R"("platforms": ["CPU", "cuda"])"))
            .empty());
  CHECK(changes_of(manifest_of(R"("platforms": ["cpu", "CUDA"])"),
                   manifest_of(R"("platforms": ["CPU"])")) ==
        std::vector<std::string>{"breaking major CUDA: no platform any more"});
  CHECK(change_of(R"("fallback": ["CPU", "CUDA"])", R"("fallback": ["cpu", "cuda"])") == "");
  CHECK(change_of(R"("stub_platforms": ["CUDA"])", R"("stub_platforms": ["cuda"])") == "");
  const auto variables = [](std::string_view map) {
    return R"("kernels": [{"platform": "cpu", "type_constraints": {)" + std::string(map) + "}}]";
  };
  CHECK(change_of(variables(R"("T": ["f32", "f16"])"), variables(R"("T1": ["f32", "f16"])")) == "");
  CHECK(change_of(variables(R"("T": ["f32", "f16"], "S": ["i32"])"),
                  variables(R"("T1": ["f32"], "S": ["i32"])")) ==
        "breaking major mv: kernel `cpu` lost `T: f16`");
  CHECK(change_of(variables(R"("T": ["f32"], "S": ["i32"])"), variables(R"("T": ["f32"])")) ==
        "breaking major mv: kernel `cpu` lost `S: i32`");
}

TEST_CASE("the versions of a kernel are compared at both ends") {
  const auto versions = [](std::string_view since, std::string_view until) {
    return R"("kernels": [{"platform": "cpu", "versions": {"since": )" + std::string(since) +
           R"(, "until": )" + std::string(until) + "}}]";
  };
  CHECK(change_of(versions("1", "12"), versions("7", "12")) ==
        "breaking major mv: kernel `cpu` serves versions from 7 on, before from 1 on");
  CHECK(change_of(versions("7", "12"), versions("1", "12")) ==
        "additive minor mv: kernel `cpu` serves versions from 1 on, before from 7 on");
  CHECK(change_of(versions("1", "12"), versions("1", "null")) ==
        "additive minor mv: kernel `cpu` serves versions without an end, before until 12");
  const auto exact = [](std::string_view until) {
    return R"({"opseal_manifest": 1, "system": "onnxruntime", "operators": [{"name": "mv",
      "kernels": [{"platform": "cpu", "versions": {"since": 7, "until": )" +
           std::string(until) + "}}]}]}";
  };
  // In ONNX Runtime versions without an end are one.
  CHECK(changes_of(exact("7"), exact("null")).empty());
  CHECK(
      changes_of(exact("9"), exact("null")) ==
      std::vector<std::string>{
          "breaking major onnxruntime::mv: kernel `cpu` serves versions until 7, before until 9"});
  CHECK(change_of(R"("versions": {"since": 1, "until": null})",
                  R"("versions": {"since": 1, "until": 9})") ==
        "breaking major mv@1: serves versions until 9, before without an end");
}

TEST_CASE("a name that is registered once less is still served") {
  const std::string once = manifest_of(R"("operators": [{"name": "f"}])");
  const std::string twice = manifest_of(R"("operators": [{"name": "f"}, {"name": "f"}])");
  CHECK(changes_of(twice, once) ==
        std::vector<std::string>{"additive minor f: operator registered once less"});
  CHECK(changes_of(once, twice) ==
        std::vector<std::string>{"additive minor f: operator registered once more"});
  CHECK(changes_of(twice, manifest_of(R"("operators": [])")) ==
        std::vector<std::string>{"breaking major f: operator removed",
                                 "breaking major f: operator removed"});
}

TEST_CASE("thousands of kernels of one operator are compared in a moment") {
  const auto kernels = [](std::string_view word) {
    std::string text;
    for (int at = 0; at < 8000; ++at) {
      const std::string name = std::string(word) + std::to_string(10000 + at) + 'x';
      text += (at == 0 ? "" : ",") + (R"({"platform": ")" + name) + R"("})";
    }
    return R"("operators": [{"name": "mv", "kernels": [)" + text + "]}]";
  };
  const Facts facts = read_two(manifest_of(kernels("a")), manifest_of(kernels("b")));
  const auto start = std::chrono::steady_clock::now();
  CHECK(find_changes(facts).list.size() == 16000);
  // The square of them takes many times that.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

}  // namespace opseal::test
