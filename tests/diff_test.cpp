// `opseal diff`: what differs between two dumps, and what that means.

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/settings.h"
#include "compare/changes.h"
#include "rules/rules.h"
#include "tests/diff_support.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

Audit recorded_diff(const std::string& fail_on = {}) {
  fs::current_path(source_dir());
  return diff_paths("fixtures/_whole/brainevent-0.1.2.json",
                    "fixtures/_whole/brainevent-0.2.1.json", {}, fail_on);
}

// What a person finds by reading the recorded dumps of brainevent 0.1.2 and 0.2.1.
constexpr std::string_view brainevent_changes[] = {
    "cache kernix: cache `headers.covered` gained `extra_include_paths`",
    "cache kernix: cache `inputs` gained `specs`",
    "cache kernix: cache `parameters` gained `extra_digests` and `specs`",
    "cache kernix: cache `schema` is `2`, before `null`",
    "cache kernix: cache `temporary_name` gained `uuid`",
    "inputs brainevent::jits_csr_count: takes 3 inputs, before 4 inputs",
    "inputs brainevent::jits_csr_fill: takes 4 inputs, before 5 inputs",
    "inputs brainevent::jitsmv_dt2t_fill: takes 5 inputs, before 6 inputs",
    "jvp brainevent::binary_fcnmm: 3 JVP rules, before 4",
    "jvp brainevent::float_jitn: JVP rule of input 0 feeds the tangent to `float_jitn`, before to "
    "no "
    "operator",
    "kernel-added brainevent::binary_densemm: kernel `gpu cublas`, before none",
    "kernel-added brainevent::binary_densemv: kernel `gpu cublas`, before none",
};

// Kernels that are another function, or take other parameters.
constexpr std::string_view brainevent_kernels[] = {
    "binary_jitumm gpu cuda_raw",
    "binary_jitumv gpu cuda_raw",
    "float_jitc_homo_matrix cpu numba",
    "float_jitn cpu numba",
    "float_jitu cpu numba",
    "jitn_csr_count cpu numba",
    "jitn_csr_fill cpu numba",
    "jitnmv_dt2t_fill cpu numba",
    "jitnmv_dt2t_fill gpu cuda_raw",
    "jits_csr_count cpu numba",
    "jits_csr_fill cpu numba",
    "jitsmv_dt2t_fill cpu numba",
    "jitsmv_dt2t_fill gpu cuda_raw",
    "jitu_csr_count cpu numba",
    "jitu_csr_fill cpu numba",
    "jitumv_dt2t_fill cpu numba",
    "jitumv_dt2t_fill gpu cuda_raw",
};

// Operators that gained the tag `light_rng`.
constexpr std::string_view brainevent_tagged[] = {
    "jitn_csr_count",   "jitn_csr_fill",  "jitnmv_dt2t_fill", "jits_csr_count",   "jits_csr_fill",
    "jitsmv_dt2t_fill", "jitu_csr_count", "jitu_csr_fill",    "jitumv_dt2t_fill",
};

}  // namespace

TEST_CASE("the changes of brainevent from 0.1.2 to 0.2.1 are those that a person finds") {
  std::vector<std::string> expected(std::begin(brainevent_changes), std::end(brainevent_changes));
  for (const std::string_view kernel : brainevent_kernels) {
    const std::size_t space = kernel.find(' ');
    expected.push_back("kernel-function brainevent::" + std::string(kernel.substr(0, space)) +
                       ": kernel `" + std::string(kernel.substr(space + 1)) +
                       "` is another function or takes other parameters");
  }
  for (const std::string_view op : brainevent_tagged) {
    expected.push_back("tags brainevent::" + std::string(op) + ": tags gained `light_rng`");
  }
  const Audit audit = recorded_diff();
  std::vector<std::string> found;
  for (const Change& change : audit.changes.list) {
    found.push_back(std::string(change.kind) + ' ' + change.subject + ": " + change.message);
  }
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  std::string differences;
  for (const auto& [from, other, sign] :
       {std::tie(found, expected, "+ "), std::tie(expected, found, "- ")}) {
    for (const std::string& line : from) {
      if (!std::binary_search(other.begin(), other.end(), line)) differences += sign + line + '\n';
    }
  }
  CHECK(differences == "");
  CHECK(found.size() == expected.size());
  // Which operators only raise on TPU is said by one of the dumps alone.
  CHECK(audit.changes.unsaid.at("stub_platforms") == 26);
  CHECK(audit.findings.empty());
}

TEST_CASE("the surplus rule of binary_fcnmm changes no gradient") {
  const Audit audit = recorded_diff();
  const auto found =
      std::find_if(audit.changes.list.begin(), audit.changes.list.end(), [](const Change& change) {
        return change.kind == "jvp" && change.subject == "brainevent::binary_fcnmm";
      });
  REQUIRE(found != audit.changes.list.end());
  CHECK(found->impact == Impact::additive);
  CHECK(found->bump == Bump::patch);
  CHECK(found->before.known());
  CHECK(found->after.known());
}

TEST_CASE("--fail-on decides the exit code of a comparison") {
  CHECK(recorded_diff().exit_code == exit_code::findings);
  CHECK(recorded_diff("never").exit_code == exit_code::clean);
  fs::current_path(source_dir());
  const std::string dump = "fixtures/_whole/jax-0.10.2.json";
  CHECK(diff_paths(dump, dump, {}, "additive").exit_code == exit_code::clean);
  const auto added = [](const std::string& fail_on) {
    return diff_paths("fixtures/dtype-narrowed/quiet/before.json",
                      "fixtures/dtype-narrowed/quiet/after.json", {}, fail_on)
        .exit_code;
  };
  CHECK(added("") == exit_code::clean);
  CHECK(added("speed") == exit_code::clean);
  CHECK(added("additive") == exit_code::findings);
  CHECK(diff_paths(dump, "fixtures/_damaged", {}, "never").exit_code == exit_code::incomplete);
}

TEST_CASE("a dump compared with itself has no change") {
  fs::current_path(source_dir());
  for (const fs::directory_entry& entry : fs::directory_iterator("fixtures/_whole")) {
    if (entry.path().extension() != ".json") continue;
    const std::string path = entry.path().string();
    INFO(path);
    const Audit audit = diff_paths(path, path);
    CHECK(audit.changes.list.empty());
    CHECK(audit.changes.unsaid.empty());
    CHECK(audit.findings.empty());
    CHECK(audit.operators > 0);
  }
}

TEST_CASE("each kind of change has its meaning") {
  CHECK(change_of(R"("inputs": 2)", R"("inputs": 2)") == "");
  CHECK(change_of(R"("inputs": 2)", R"("inputs": 3)") ==
        "breaking major mv: takes 3 inputs, before 2 inputs");
  CHECK(change_of(R"("inputs": 2)", R"("inputs": {"min": 2, "max": 3})") ==
        "additive minor mv: takes 2 to 3 inputs, before 2 inputs");
  CHECK(change_of(R"("outputs": 1)", R"("outputs": 2)") ==
        "breaking major mv: returns 2 outputs, before 1 output");
  CHECK(change_of(R"("jvp": null)", R"("jvp": {"kind": "linear"})") ==
        "additive minor mv: JVP `linear`, before none");
  CHECK(change_of(R"("transpose": {"name": "t"})", R"("transpose": null)") ==
        "breaking major mv: no transpose rule, before one");
  CHECK(change_of(R"("batching": {"kind": "sequential"})", R"("batching": {"kind": "general"})") ==
        "speed patch mv: batching `general`, before `sequential`");
  CHECK(change_of(R"("defaults": {"gpu": "a"})", R"("defaults": {"gpu": "b"})") ==
        "numerics minor mv: default on `gpu` is `b`, before `a`");
  CHECK(change_of(R"("deprecated": false)", R"("deprecated": true)") ==
        "additive minor mv: `deprecated` is `true`, before `false`");
  CHECK(change_of(R"("versions": {"since": 1, "until": 9})",
                  R"("versions": {"since": 1, "until": 7})") ==
        "breaking major mv@1: serves versions until 7, before until 9");
  CHECK(change_of(R"("attributes": [{"name": "axis"}])", R"("attributes": [])") ==
        "breaking major mv: no attribute `axis` any more");
}

TEST_CASE("kernels are compared by platform and backend") {
  const auto kernels = [](std::string_view before, std::string_view after) {
    return change_of(R"("kernels": [)" + std::string(before) + ']',
                     R"("kernels": [)" + std::string(after) + ']');
  };
  const std::string cuda = R"({"platform": "cuda", "backend": "a"})";
  const std::string other = R"({"platform": "cuda", "backend": "b"})";
  CHECK(kernels(cuda + ',' + other, cuda) == "speed patch mv: no kernel `cuda b` any more");
  CHECK(kernels(cuda, "") == "breaking major mv: no kernel `cuda a` any more");
  CHECK(kernels("", cuda) == "additive minor mv: kernel `cuda a`, before none");
  // Merging kernels takes nothing away.
  CHECK(kernels(R"({"platform": "cpu", "dtypes": ["f32"]}, {"platform": "cpu", "dtypes": ["f64"]})",
                R"({"platform": "cpu", "dtypes": ["float64", "float32"]})") == "");
  CHECK(kernels(R"({"platform": "cpu", "dtypes": ["f32", "f16"]})",
                R"({"platform": "cpu", "dtypes": ["f32", "bf16"]})") ==
        "breaking major mv: kernel `cpu` lost `f16` / "
        "additive minor mv: kernel `cpu` gained `bf16`");
  CHECK(kernels(R"({"platform": "cpu", "symbol": "f"})", R"({"platform": "cpu", "symbol": "g"})") ==
        "speed patch mv: `symbol` of kernel `cpu` is `g`, before `f`");
  CHECK(kernels(R"({"platform": "cpu", "location": {"file": "a.cc", "line": 1}})",
                R"({"platform": "cpu", "location": {"file": "b.cc", "line": 2}})") == "");
  CHECK(kernels(R"({"platform": "cpu", "function": {"name": "pack._old.mv", "positional": 2}})",
                R"({"platform": "cpu", "function": {"name": "pack.new.mv", "positional": 2}})") ==
        "");
}

TEST_CASE("what one dump does not say is no change") {
  CHECK(change_of(R"("inputs": 2)", R"("outputs": 1)") == "");
  const Facts facts = read_two(manifest_of(R"("operators": [{"name": "mv", "inputs": 2}])"),
                               manifest_of(R"("operators": [{"name": "mv"}], "targets": [])"));
  CHECK(find_changes(facts).unsaid.at("inputs") == 1);
  // An element that could not be read may be the one that is missing.
  const Facts damaged = read_two(manifest_of(R"("operators": [{"name": "mv"}, {"name": "mm"}])"),
                                 manifest_of(R"("operators": [{"name": "mv"}, 7])"));
  const Changes changes = find_changes(damaged);
  CHECK(changes.list.empty());
  CHECK(changes.unpaired == 1);
}

TEST_CASE("a removed operator with the code of an added one may be renamed") {
  const auto op = [](std::string_view name, std::string_view code) {
    return R"({"name": ")" + std::string(name) +
           R"(", "inputs": 2, "kernels": [{"platform": "cpu", "symbol": ")" + std::string(code) +
           "\"}]}";
  };
  const auto lines = changes_of(manifest_of("\"operators\": [" + op("mv", "f") + ']'),
                                manifest_of("\"operators\": [" + op("matvec", "f") + ']'));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "breaking major mv: operator removed; renamed to `matvec`?");
  CHECK(lines[1] == "additive minor matvec: operator added");
  const auto apart = changes_of(manifest_of("\"operators\": [" + op("mv", "f") + ']'),
                                manifest_of("\"operators\": [" + op("matvec", "g") + ']'));
  REQUIRE(apart.size() == 2);
  CHECK(apart[0] == "breaking major mv: operator removed");
}

TEST_CASE("targets are compared by platform and name") {
  const auto lines = changes_of(
      manifest_of(R"("targets": [{"name": "t", "platform": "CUDA", "api_version": 0},
                                            {"name": "u", "platform": "cpu"}])"),
      manifest_of(R"("targets": [{"name": "t", "platform": "cuda", "api_version": 1}])"));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "breaking major u: target removed");
  CHECK(lines[1] == "breaking major t: `api_version` of the target is 1, before 0");
}

TEST_CASE("rules that compare run where two dumps are") {
  fs::current_path(source_dir());
  const std::vector<std::string> one = {"fixtures/jvp-lost/fires/before.json"};
  for (const RuleRun& run : audit_paths(one, {}).runs) CHECK(!run.rule->two_dumps);
  const Audit selected = audit_paths(one, {"jvp-lost"});
  REQUIRE(selected.runs.size() == 1);
  CHECK(selected.runs[0].skipped);
  CHECK(selected.runs[0].reason == "compares two dumps, which `opseal diff` does");
  CHECK(selected.exit_code == exit_code::nothing);
  const Audit compared = diff_paths(one[0], "fixtures/jvp-lost/fires/after.json");
  for (const RuleRun& run : compared.runs) CHECK(run.rule->two_dumps);
  CHECK(count_findings(compared) == Counts{{"jvp-lost error", 1}});
  CHECK_THROWS_AS(diff_paths(one[0], one[0], {"jvp-arity"}), UsageError);
}

TEST_CASE("the JSON report of a comparison has its changes") {
  const Audit audit = recorded_diff();
  const nlohmann::json document = nlohmann::json::parse(report(audit, "json"));
  CHECK(document["run"]["command"] == "diff");
  CHECK(document["changes"].size() == audit.changes.list.size());
  const nlohmann::json& counts = document["summary"]["changes"];
  CHECK(counts["bump"] == "major");
  CHECK(counts["breaking"] == 3);
  CHECK(counts["breaking"].get<std::size_t>() + counts["numerics"].get<std::size_t>() +
            counts["speed"].get<std::size_t>() + counts["additive"].get<std::size_t>() ==
        audit.changes.list.size());
  for (const nlohmann::json& change : document["changes"]) {
    CHECK(change["before"].contains("line"));
    CHECK(change["after"]["path"] == "fixtures/_whole/brainevent-0.2.1.json");
  }
}

TEST_CASE("the same change of several operators is one line") {
  const std::string text = text_report(recorded_diff());
  CHECK(text.find("9 times: `brainevent::jitn_csr_count`") != std::string::npos);
  CHECK(text.find("no change, since only one dump says them: 26 `stub_platforms`") !=
        std::string::npos);
}

}  // namespace opseal::test
