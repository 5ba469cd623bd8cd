#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "rules/rules.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view surplus =
    R"({"opseal_manifest": 1, "operators": [{"name": "é", "inputs": 1,)"
    R"( "jvp": {"kind": "per_input", "rules": [null, null]}}]})";

Audit surplus_audit() { return audit_text(surplus, {find_rule("jvp-arity")}); }

ordered_json run_of(const Audit& audit) {
  const ordered_json log = ordered_json::parse(report(audit, "sarif"));
  CHECK(log["version"] == "2.1.0");
  REQUIRE(log["runs"].size() == 1);
  return log["runs"][0];
}

std::string uri_of(const std::string& path) {
  Audit audit = surplus_audit();
  audit.facts.files[0].path = path;
  const ordered_json run = run_of(audit);
  return run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].dump();
}

}  // namespace

TEST_CASE("a result points at its rule, its places and its fingerprint") {
  const ordered_json run = run_of(surplus_audit());
  CHECK(run["columnKind"] == "unicodeCodePoints");
  REQUIRE(run["results"].size() == 1);
  const ordered_json& result = run["results"][0];
  const ordered_json& rule =
      run["tool"]["driver"]["rules"].at(result["ruleIndex"].get<std::size_t>());
  CHECK(rule["id"] == result["ruleId"]);
  CHECK(rule["defaultConfiguration"]["level"] == "error");
  CHECK(result["level"] == "error");
  CHECK(result["partialFingerprints"]["opseal/v1"].get<std::string>().starts_with("opseal1:"));
  const std::size_t offset = surplus.find("[null");
  const ordered_json& location = result["locations"][0];
  CHECK(location["physicalLocation"]["region"]["startColumn"] == offset);
  CHECK(location["physicalLocation"]["region"]["endColumn"] == offset + 12);
  CHECK(location["logicalLocations"][0]["fullyQualifiedName"] == "/operators/0/jvp/rules");
  CHECK(result["relatedLocations"][0]["message"]["text"] == "inputs counted here");
}

TEST_CASE("a changed severity is the result's, not the rule's") {
  Audit audit = surplus_audit();
  audit.findings[0].severity = Severity::note;
  const ordered_json run = run_of(audit);
  CHECK(run["results"][0]["level"] == "note");
  CHECK(run["tool"]["driver"]["rules"][0]["defaultConfiguration"]["level"] == "error");
}

TEST_CASE("every result of a run says its suppressions, or none does") {
  Audit audit = surplus_audit();
  CHECK(!run_of(audit)["results"][0].contains("suppressions"));
  audit.findings.push_back(audit.findings[0]);
  audit.findings[1].silenced_by = "config";
  audit.findings[1].silenced_reason = "known";
  const ordered_json run = run_of(audit);
  CHECK(run["results"][0]["suppressions"].dump() == "[]");
  CHECK(run["results"][1]["suppressions"].dump() ==
        R"([{"kind":"external","justification":"known"}])");
}

TEST_CASE("a file without lines has byte regions") {
  Audit audit = surplus_audit();
  audit.facts.files[0].open_path = "/nonexistent/ops.json";
  const ordered_json run = run_of(audit);
  const ordered_json& place = run["results"][0]["locations"][0]["physicalLocation"];
  CHECK(place["region"].dump() ==
        "{\"byteOffset\":" + std::to_string(surplus.find("[null")) + ",\"byteLength\":12}");
}

TEST_CASE("paths become URI references") {
  CHECK(uri_of("a b/c%d:é.json") == R"({"uri":"a%20b/c%25d%3A%C3%A9.json","uriBaseId":"SRCROOT"})");
  CHECK(uri_of("pkg.whl!/lib/x.so") == R"({"uri":"pkg.whl!/lib/x.so","uriBaseId":"SRCROOT"})");
  CHECK(uri_of("/tmp/ops.json") == R"({"uri":"file:///tmp/ops.json"})");
  CHECK(uri_of("-") == R"({"uri":"-","description":{"text":"standard input"}})");
}

TEST_CASE("problems are notifications and skipped rules are properties") {
  Audit audit =
      audit_text(R"({"opseal_manifest": 1, "operators": [{"nam": 1}]})", {find_rule("jvp-arity")});
  audit.complete = false;
  audit.exit_code = exit_code::incomplete;
  const ordered_json run = run_of(audit);
  const ordered_json& invocation = run["invocations"][0];
  CHECK(invocation["executionSuccessful"] == false);
  CHECK(invocation["exitCode"] == 4);
  REQUIRE(invocation["toolExecutionNotifications"].size() == 2);
  CHECK(invocation["toolExecutionNotifications"][0]["level"] == "error");
  CHECK(run["results"].empty());
  CHECK(run["properties"]["skippedRules"][0]["rule"] == "jvp-arity");
}

}  // namespace opseal::test
