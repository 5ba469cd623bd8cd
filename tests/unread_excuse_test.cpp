// An excuse that couldn't be read is no reason to accuse: it may be just the one that is missing.
// Fixtures can't show it, since they hold no problems.

#include <doctest/doctest.h>

#include <string>

#include "rules/rules.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

std::uint64_t findings_of(std::string_view id, const std::string& members) {
  const Facts facts = read_text(R"({"opseal_manifest": 1, "system": "engine", )" + members + "}");
  std::vector<Finding> findings;
  return run_rule(*find_rule(id), facts, findings).findings;
}

struct Excuse {
  const char* rule;
  // `@` is where the excuse goes.
  const char* manifest;
  // Leaves the fault as bad as it is.
  const char* none;
  const char* unread;
};

constexpr Excuse excuses[] = {
    {"dtype-grid-hole",
     R"("operators": [{"name": "f", "kernels": [{"platform": "cpu", "dtypes": ["i32", "i64"]},
        {"platform": "gpu", "dtypes": ["i64"]}@]}])",
     "", ", 17"},
    {"dtype-grid-hole",
     R"("operators": [{"name": "f", "kernels": [{"platform": "cpu", "dtypes": ["i32", "i64"]},
        {"platform": "gpu", "dtypes": ["i64"]@}]}])",
     "", R"(, "refused": [17])"},
    {"dtype-grid-hole",
     R"("operators": [{"name": "f", "kernels": [{"platform": "cpu", "dtypes": ["i32", "i64"]},
        {"platform": "gpu", "dtypes": ["i64"]@}]}])",
     "", R"(, "refused": 17)"},
    {"dtype-gap",
     R"("operators": [{"name": "f", "kernels": [{"platform": "cpu", "dtypes": ["f32", "f64"]},
        {"platform": "gpu", "dtypes": ["f32"]@}]}])",
     "", R"(, "refused": [17])"},
    {"fallback-default-wrong",
     R"("dispatch": [{"operator": "f", "kinds": ["Q8_0", "IQ4_XS"]@,
        "table": {"entries": [], "default": "mv_q8_0"}}])",
     "", R"(, "exceptions": [17])"},
    {"default-missing",
     R"("operators": [{"name": "f", "defaults": {@}, "kernels": [
        {"platform": "gpu", "backend": "a"}, {"platform": "gpu", "backend": "b"}]}])",
     "", R"("gpu": 17)"},
    {"op-semantics-split",
     R"("operators": [{"name": "f", "kernels": [{"platform": "cpu", "semantics": "a"},
        {"platform": "gpu", "semantics": "b"}@]}])",
     "", R"(, {"platform": "gpu", "semantics": 17})"},
    {"op-semantics-split",
     R"("operators": [{"name": "f", "kernels": [{"platform": "cpu", "semantics": "a"},
        {"platform": "gpu", "semantics": "b"}@]}])",
     "", ", 17"},
    {"version-range-overlap",
     R"("operators": [{"name": "f", "kernels": [
        {"platform": "cpu", "versions": {"since": 7, "until": 11}, "type_constraints": {"T": ["f32"]}},
        {"platform": "cpu", "versions": {"since": 11, "until": 12}, "type_constraints": {"T": ["f32"]@}}]}])",
     "", R"(, "U": 17)"},
    {"fallback-chain-hole",
     R"("backend_fallbacks": [@], "operators": [{"name": "f", "fallback": ["cpu"], "kernels": [
        {"platform": "cuda", "dtypes": ["f32", "q6_k"]}, {"platform": "cpu", "dtypes": ["f32"]}]}])",
     "", "17"},
    {"fallback-chain-hole",
     R"("operators": [{"name": "f", "fallback": ["cpu"], "kernels": [
        {"platform": "cuda", "dtypes": ["f32", "q6_k"]@}, {"platform": "cpu", "dtypes": ["f32"]}]}])",
     "", R"(, "failed": [17])"},
    {"launch-without-claim",
     R"("dispatch": [{"operator": "f", "predicate": {"kinds": ["Q8_0"]}@, "table": {"entries": [
        {"kind": "Q8_0", "kernel": "a"}, {"kind": "IQ4_XS", "kernel": "b"}], "default": null}}])",
     "", R"(, "exceptions": [{"kind": 17}])"},
    {"claim-without-launch",
     R"("dispatch": [{"operator": "f", "predicate": {"kinds": ["Q8_0", "Q5_0"]}@, "table": {"entries": [
        {"kind": "Q8_0", "kernel": "a"}], "default": null}}])",
     "", R"(, "exceptions": [17])"},
    {"dtype-backend-unsupported",
     R"("operators": [{"name": "f", "kernels": [
        {"platform": "webgpu", "dtypes": ["f32", "bf16"]@}]}])",
     "", R"(, "refused": [17])"},
    {"name-duplicate",
     R"("operators": [{"name": "f", "kernels": [{"platform": "cpu"}]}, {"name": "f", "kernels": [@]}])",
     "", "17"},
    {"name-duplicate", R"("operators": [{"name": "f"}, {"name": "f"@}])", "",
     R"(, "versions": {"since": "x"})"},
    {"predicate-underclaims",
     R"("operators": [{"name": "f", "kernels": [{"platform": "cuda", "dtypes": ["f32", "Q4_0"]@}]}],
        "dispatch": [{"operator": "f", "backend": "cuda",
        "predicate": {"kinds": ["f32"], "refused": ["Q4_0"]}}])",
     "", R"(, "failed": [17])"},
    {"def-without-impl",
     R"("devices": ["cpu"@], "operators": [{"name": "f", "schema": "f(Tensor x) -> Tensor",
        "kernels": [{"platform": "Meta"}]}])",
     R"(, "cuda")", ", 17"},
};

TEST_CASE("an unread excuse may be the one that is missing") {
  for (const Excuse& excuse : excuses) {
    const std::string manifest = excuse.manifest;
    const std::size_t at = manifest.find('@');
    REQUIRE(at != manifest.npos);
    const auto with = [&](const char* text) { return std::string(manifest).replace(at, 1, text); };
    INFO(excuse.rule << " beside " << excuse.unread);
    CHECK(findings_of(excuse.rule, with(excuse.none)) == 1);
    CHECK(findings_of(excuse.rule, with(excuse.unread)) == 0);
  }
}

}  // namespace
}  // namespace opseal::test
