// What single changes mean for users, and that before and after never read the same.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/settings.h"
#include "compare/call_signature.h"
#include "tests/diff_support.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

std::string kernel_change(std::string_view before, std::string_view after) {
  const auto kernel = [](std::string_view facts) {
    return R"("kernels": [{"platform": "cpu", )" + std::string(facts) + "}]";
  };
  return change_of(kernel(before), kernel(after));
}

std::string capability_change(std::string_view before, std::string_view after) {
  const auto facts = [](std::string_view text) {
    return R"("capabilities": {)" + std::string(text) + '}';
  };
  return kernel_change(facts(before), facts(after));
}

std::string row(std::string_view before, std::string_view after, std::string_view list) {
  const auto manifest = [&list](std::string_view facts) {
    return manifest_of('"' + std::string(list) + R"(": [{"name": "c", )" + std::string(facts) +
                       "}]");
  };
  std::string text;
  for (const std::string& line : changes_of(manifest(before), manifest(after)))
    text += (text.empty() ? "" : " / ") + line;
  return text;
}

std::string cache_change(std::string_view before, std::string_view after) {
  return row(before, after, "caches");
}

std::string schema_change(std::string_view before, std::string_view after) {
  const auto schema = [](std::string_view text) {
    return R"("schema": ")" + std::string(text) + '"';
  };
  return change_of(schema(before), schema(after));
}

// Compares two files that hold the texts, with a configuration.
Audit files_diff(const std::string& before, const std::string& after, const std::string& config) {
  const fs::path folder = fs::temp_directory_path() / "opseal_diff_impact_test";
  fs::create_directories(folder);
  std::ofstream(folder / "before.json") << before;
  std::ofstream(folder / "after.json") << after;
  std::ofstream(folder / "opseal.toml") << config;
  Options options;
  options.command = Command::diff;
  options.paths = {(folder / "before.json").string(), (folder / "after.json").string()};
  options.config = (folder / "opseal.toml").string();
  options.no_ignore = true;
  return run_diff(options);
}

const std::string with_fallback =
    manifest_of(R"("operators": [{"name": "mv", "inputs": 2, "fallback": ["cpu"]}])");
const std::string without_fallback =
    manifest_of(R"("operators": [{"name": "mv", "inputs": 2, "fallback": []}])");

}  // namespace

TEST_CASE("a cache that forgets finds stale entries; one that learns builds again") {
  CHECK(cache_change(R"("inputs": ["source", "flags"])", R"("inputs": ["source"])") ==
        "numerics minor c: cache `inputs` lost `flags`");
  CHECK(cache_change(R"("inputs": ["source"])", R"("inputs": ["source", "flags"])") ==
        "speed patch c: cache `inputs` gained `flags`");
  CHECK(cache_change(R"("inputs": ["source", "flags"])", R"("inputs": ["source", "driver"])") ==
        "numerics minor c: cache `inputs` gained `driver`; lost `flags`");
  CHECK(cache_change(R"("schema": "2")", R"("schema": null)") ==
        "numerics minor c: cache `schema` is `null`, before `2`");
  CHECK(cache_change(R"("schema": "2")", R"("schema": "3")") ==
        "speed patch c: cache `schema` is `3`, before `2`");
  CHECK(cache_change(R"("headers": {"covered": ["injected", "system"]})",
                     R"("headers": {"covered": ["injected"]})") ==
        "numerics minor c: cache `headers.covered` lost `system`");
  CHECK(cache_change(R"("headers": {"method": "content"})", R"("headers": {"method": "mtime"})") ==
        "numerics minor c: cache `headers.method` is `mtime`, before `content`");
  CHECK(cache_change(R"("environment": ["CC"])", R"("environment": [])") ==
        "numerics minor c: cache `environment` lost `CC`");
  CHECK(cache_change(R"("environment": [])", R"("environment": ["CC"])") ==
        "numerics minor c: cache `environment` gained `CC`");
  CHECK(cache_change(R"("inputs": ["environment"], "environment": [])",
                     R"("inputs": ["environment"], "environment": ["CC"])") ==
        "speed patch c: cache `environment` gained `CC`");
  CHECK(cache_change(R"("inputs": ["source", "flags"])", R"("inputs": ["flags", "source"])") == "");
  CHECK(cache_change(R"("match": "exact")", R"("match": "prefix")") ==
        "numerics minor c: cache `match` is `prefix`, before `exact`");
  CHECK(cache_change(R"("match": "prefix")", R"("match": "exact")") ==
        "speed patch c: cache `match` is `exact`, before `prefix`");
  CHECK(cache_change(R"("separated": true)", R"("separated": false)") ==
        "numerics minor c: cache `separated` is `false`, before `true`");
  CHECK(cache_change(R"("key_parts": [{"name": "a"}, {"name": "b"}])",
                     R"("key_parts": [{"name": "a"}])") ==
        "numerics minor c: cache lost the key part `b`");
}

TEST_CASE("the members that differ are named, with both values") {
  CHECK(kernel_change(R"("precision": {"bit_stable": true, "audited": true, "max_ulp": 2})",
                      R"("precision": {"bit_stable": true, "audited": true, "max_ulp": 9})") ==
        "numerics minor mv: `precision.max_ulp` of kernel `cpu` is 9, before 2");
  CHECK(kernel_change(R"("priority": 1.5)", R"("priority": 2)") ==
        "speed patch mv: `priority` of kernel `cpu` is 2, before 1.5");
  CHECK(capability_change(R"("constraints": ["a % 4"])", R"("constraints": ["a % 4", "b"])") ==
        "breaking major mv: `capabilities.constraints` of kernel `cpu` gained `b`");
  const std::string long_text(200, 'x');
  CHECK(
      kernel_change(R"("native_signature": ")" + long_text + R"(a")",
                    R"("native_signature": ")" + long_text + R"(b")") ==
      "breaking major mv: `native_signature` of kernel `cpu` from byte 200 on is `b`, before `a`");
  CHECK(row(R"("stages": ["a", "b"])", R"("stages": ["b", "a"])", "targets") ==
        "speed patch c: `stages` of the target at place 0 is `b`, before `a`");
}

TEST_CASE("what makes right calls fail or be misread is breaking") {
  CHECK(capability_change(R"("in_place": false)", R"("in_place": true)") ==
        "breaking major mv: `capabilities.in_place` of kernel `cpu` is `true`, before `false`");
  CHECK(capability_change(R"("strided_input": true)", R"("strided_input": false)")
            .starts_with("breaking"));
  CHECK(capability_change(R"("strided_input": false)", R"("strided_input": true)")
            .starts_with("additive"));
  CHECK(capability_change(R"("alignment_bytes": 4)", R"("alignment_bytes": 16)")
            .starts_with("breaking"));
  CHECK(capability_change(R"("alignment_bytes": 16)", R"("alignment_bytes": 4)")
            .starts_with("additive"));
  CHECK(change_of(R"("fallback": ["cpu"])", R"("fallback": [])") ==
        "breaking major mv: falls back to nothing, before to `cpu` (lost `cpu`)");
  CHECK(change_of(R"("fallback": ["cpu", "any"])", R"("fallback": ["any", "cpu"])") ==
        "speed patch mv: falls back to `any` and `cpu`, before to `cpu` and `any`");
  CHECK(change_of(R"("inputs": [{"name": "w"}, {"name": "x"}])",
                  R"("inputs": [{"name": "x"}, {"name": "w"}])") ==
        "breaking major mv: inputs stand in another order: `x` and `w`, before `w` and `x`");
  CHECK(change_of(R"("mutates_args": [])", R"("mutates_args": ["out"])") ==
        "breaking major mv: `mutates_args` gained `out`");
  CHECK(change_of(R"("inputs": [{"name": "w", "rank": null}])",
                  R"("inputs": [{"name": "w", "rank": 2}])") ==
        "breaking major mv: `rank` of input 0 is 2, before `null`");
  // The name of a type variable is nobody's business; what it stands for is.
  CHECK(
      change_of(R"("type_constraints": {"T": ["f32"], "S": ["f32"]}, "inputs": [{"type": "T"}])",
                R"("type_constraints": {"T": ["f32"], "S": ["f32"]}, "inputs": [{"type": "S"}])") ==
      "");
  CHECK(
      change_of(
          R"("type_constraints": {"T": ["f32", "f16"], "S": ["f32"]}, "inputs": [{"type": "T"}])",
          R"("type_constraints": {"T": ["f32", "f16"], "S": ["f32"]}, "inputs": [{"type": "S"}])") ==
      "breaking major mv: input 0 lost `f16`");
  CHECK(change_of(R"("schema": "a::f(Tensor x) -> Tensor")", R"("schema": null)") ==
        "breaking major mv: nobody defines it any more");
}

TEST_CASE("promises about results are compared") {
  CHECK(kernel_change(R"("determinism": "bitwise")", R"("determinism": "nondeterministic")") ==
        "numerics minor mv: `determinism` of kernel `cpu` is `nondeterministic`, before `bitwise`");
  CHECK(change_of(R"("params_variants": ["a", "b"])", R"("params_variants": ["a"])") ==
        "breaking major mv: `params_variants` lost `b`");
  const std::string loud = manifest_of(R"("operators": [], "on_duplicate": "error")");
  const std::string quiet = manifest_of(R"("operators": [], "on_duplicate": "replace")");
  CHECK(changes_of(loud, quiet).at(0).starts_with("numerics"));
  CHECK(changes_of(quiet, loud).at(0).starts_with("breaking"));
  // Several kernels at one place are told apart by what they take.
  CHECK(change_of(
            R"("kernels": [{"platform": "cpu", "dtypes": ["f32"], "revision": "1"},
                           {"platform": "cpu", "dtypes": ["f64"], "revision": "1"}])",
            R"("kernels": [{"platform": "cpu", "dtypes": ["f64"], "revision": "3"},
                           {"platform": "cpu", "dtypes": ["f32"], "revision": "2"}])") ==
        "numerics minor mv: `revision` of kernel `cpu` is `3`, before `1` / "
        "numerics minor mv: `revision` of kernel `cpu` is `2`, before `1`");
}

TEST_CASE("schemas are compared by what they mean") {
  CHECK(schema_change("a::f(Tensor x, int[2] k=1) -> Tensor",
                      "a::f(Tensor x, SymInt[2] k=[1, 1]) -> Tensor") == "");
  CHECK(schema_change("a::f(Tensor x) -> Tensor", "a::f(Tensor x, int k=1) -> Tensor") ==
        "additive minor mv: new argument `k` with the default `1`");
  CHECK(schema_change("a::f(Tensor x) -> Tensor", "a::f(Tensor x, int k) -> Tensor") ==
        "breaking major mv: new argument `k` without a default");
  CHECK(schema_change("a::f(Tensor x, int k=1) -> Tensor", "a::f(Tensor x, int k=2) -> Tensor") ==
        "numerics minor mv: argument `k` has the default `2`, before `1`");
  CHECK(schema_change("a::f(Tensor grad) -> Tensor", "a::f(Tensor grad_out) -> Tensor") ==
        "breaking major mv: argument `grad` is named `grad_out` now");
  CHECK(schema_change("a::f(Tensor x, Tensor y) -> Tensor", "a::f(Tensor y, Tensor x) -> Tensor") ==
        "breaking major mv: arguments stand in another order");
  CHECK(schema_change("a::f(Tensor x, int? k) -> Tensor", "a::f(Tensor x, Scalar? k) -> Tensor") ==
        "additive minor mv: argument `k` is a `Scalar?`, before a `int?`");
  CHECK(schema_change("a::f(Tensor x, int? k) -> Tensor", "a::f(Tensor x, int k) -> Tensor") ==
        "breaking major mv: argument `k` is a `int`, before a `int?`");
  CHECK(schema_change("a::f(Tensor x) -> Tensor", "a::f(Tensor(a!) x) -> Tensor(a!)") ==
        "breaking major mv: argument `x` is written / "
        "numerics minor mv: output 0 shares memory with an argument");
  CHECK(schema_change("a::f(Tensor x) -> (Tensor, Tensor)", "a::f(Tensor x) -> Tensor") ==
        "breaking major mv: returns 1 output, before 2");
  CHECK(!read_call_signature(R"({"type": "ffi.Function"})").readable);
  CHECK(!read_call_signature("f(((").readable);
}

TEST_CASE("functions that differ are named, or what they take") {
  CHECK(change_of(R"("transpose": {"name": "a.f", "positional": 1})",
                  R"("transpose": {"name": "a.g", "positional": 2})") ==
        "numerics minor mv: transpose rule is `a.g`, before `a.f`");
  CHECK(change_of(R"("transpose": {"name": "a.f", "positional": 1})",
                  R"("transpose": {"name": "b.f", "positional": 2})") ==
        "numerics minor mv: transpose rule at `positional` is 2, before 1");
}

TEST_CASE("dumps of different systems are told so first") {
  const std::string torch = R"({"opseal_manifest": 1, "system": "torch", "operators": []})";
  const std::string jax = R"({"opseal_manifest": 1, "system": "jax", "operators": []})";
  const Audit audit = files_diff(torch, jax, "");
  CHECK(text_report(audit).starts_with("other systems: `jax`, before `torch`; "));
  const auto document = nlohmann::json::parse(report(audit, "json"));
  CHECK(document["summary"]["changes"]["systems_before"] == nlohmann::json{"torch"});
  CHECK(!text_report(files_diff(jax, jax, "")).starts_with("other systems"));
}

TEST_CASE("standard input is one dump at most") {
  CHECK_THROWS_AS(diff_paths("-", "-"), UsageError);
}

TEST_CASE("a change that is meant can be silenced by its kind") {
  const Audit loud = files_diff(with_fallback, without_fallback, "");
  CHECK(loud.exit_code == exit_code::findings);
  const std::string silence =
      "[[silence]]\nrule = \"fallback\"\nsubject = \"mv\"\nreason = \"meant\"\n";
  const Audit audit = files_diff(with_fallback, without_fallback, silence);
  CHECK(audit.exit_code == exit_code::clean);
  CHECK(audit.suppressed == 1);
  const auto document = nlohmann::json::parse(report(audit, "json"));
  CHECK(document["changes"][0]["silenced"]["reason"] == "meant");
  CHECK(document["summary"]["changes"]["breaking"] == 0);
  CHECK(document["summary"]["changes"]["bump"].is_null());
  CHECK(text_report(audit).find("falls back") == std::string::npos);
  // One that silences nothing is told.
  const Audit idle = files_diff(with_fallback, with_fallback, silence);
  REQUIRE(idle.settings.remarks.size() == 1);
  CHECK(idle.settings.remarks[0] == "`silence`: no change of the kind `fallback` about `mv`");
}

}  // namespace opseal::test
