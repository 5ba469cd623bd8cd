#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/place_names.h"
#include "rules/rules.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

using nlohmann::ordered_json;

// One surplus rule; the two-byte letter in front puts bytes and columns apart.
constexpr std::string_view surplus =
    "{\"opseal_manifest\": 1,\n"
    " \"operators\": [{\"name\": \"é\", \"inputs\": 1, \"jvp\": {\"kind\": \"per_input\", "
    "\"rules\": "
    "[null, null]}}]}\n";

Audit surplus_audit() { return audit_text(surplus, {find_rule("jvp-arity")}); }

std::string keys_of(const ordered_json& object) {
  std::string keys;
  for (const auto& [key, value] : object.items()) keys += key + ' ';
  return keys;
}

std::string pointer_at(std::string_view manifest, std::string_view text) {
  const Facts facts = read_text(manifest);
  return PlaceNames(facts).logical(
      {0, static_cast<std::uint32_t>(text.size()), manifest.find(text)});
}

}  // namespace

TEST_CASE("the JSON report has the keys of the format in their order") {
  const ordered_json report = ordered_json::parse(test::report(surplus_audit(), "json"));
  CHECK(keys_of(report) == "opseal_report tool run summary findings problems rules probes ");
  CHECK(keys_of(report["run"]) == "command arguments exit_code complete ");
  CHECK(keys_of(report["summary"]) ==
        "inputs operators libraries error warning note suppressed baselined other_files ");
  REQUIRE(report["findings"].size() == 1);
  const ordered_json& finding = report["findings"][0];
  CHECK(keys_of(finding) ==
        "rule severity subject message location label related fix witnesses tier confirmed "
        "fingerprint ");
  CHECK(keys_of(finding["location"]) ==
        "path line column end_line end_column offset length logical ");
  CHECK(finding["tier"] == "manifest");
  CHECK(finding["confirmed"].is_null());
  CHECK(keys_of(report["rules"][0]) == "rule state inspected findings reason ");
  CHECK(report["rules"][0]["reason"].is_null());
}

TEST_CASE("columns count code points and offsets bytes") {
  const ordered_json report = ordered_json::parse(test::report(surplus_audit(), "json"));
  const ordered_json& location = report["findings"][0]["location"];
  const std::size_t offset = surplus.find("[null");
  CHECK(location["offset"] == offset);
  CHECK(location["length"] == 12);
  CHECK(location["line"] == 2);
  const std::size_t line_start = surplus.find('\n') + 1;
  // One less than the byte's place from 1: the letter takes two bytes.
  CHECK(location["column"] == offset - line_start);
  CHECK(location["end_column"] == offset - line_start + 12);
  CHECK(location["logical"] == "/operators/0/jvp/rules");
}

TEST_CASE("each line of the JSON lines is a finding of the JSON report") {
  Audit audit = surplus_audit();
  audit.findings.push_back(audit.findings.front());
  audit.findings.back().silenced_by = "config";
  audit.findings.back().silenced_reason = "known";
  const ordered_json report = ordered_json::parse(test::report(audit, "json"));
  std::istringstream lines(test::report(audit, "jsonl"));
  std::size_t at = 0;
  for (std::string line; std::getline(lines, line); ++at) {
    CHECK(ordered_json::parse(line).dump() == report["findings"].at(at).dump());
  }
  CHECK(at == 2);
  CHECK(!report["findings"][0].contains("silenced"));
  CHECK(report["findings"][1]["silenced"].dump() == R"({"by":"config","reason":"known"})");
}

TEST_CASE("a place that is not known is an empty object, a whole file has only its path") {
  Audit audit = surplus_audit();
  audit.facts.problems.push_back({Location{}, "a remark", {}, Severity::note});
  audit.facts.problems.push_back({Location{0, 0, 0}, "no manifest", {}, Severity::error});
  const ordered_json report = ordered_json::parse(test::report(audit, "json"));
  CHECK(report["problems"][0]["location"].dump() == "{}");
  CHECK(report["problems"][1]["location"].dump() == R"({"path":"ops.json"})");
}

TEST_CASE("a file that can't be read any more keeps its offsets") {
  Audit audit = surplus_audit();
  audit.facts.files[0].open_path = "/nonexistent/ops.json";
  const ordered_json report = ordered_json::parse(test::report(audit, "json"));
  CHECK(keys_of(report["findings"][0]["location"]) == "path offset length logical ");
}

TEST_CASE("a path that is no UTF-8 leaves the report readable") {
  Audit audit = surplus_audit();
  audit.facts.files[0].path = "ops\xff.json";
  const ordered_json report = ordered_json::parse(test::report(audit, "json"));
  CHECK(report["findings"][0]["location"]["path"] == "ops\ufffd.json");
}

TEST_CASE("a skipped rule says why") {
  const Audit audit = audit_text(R"({"opseal_manifest": 1})", {find_rule("jvp-arity")});
  const ordered_json report = ordered_json::parse(test::report(audit, "json"));
  CHECK(report["rules"][0]["state"] == "skipped");
  CHECK(report["rules"][0]["reason"] == "no input says `operators`");
}

TEST_CASE("an equal key names the first one") {
  const Audit audit = audit_text(R"({"opseal_manifest": 1, "system": "jax", "system": "jax"})");
  const ordered_json report = ordered_json::parse(test::report(audit, "json"));
  REQUIRE(report["problems"].size() == 1);
  CHECK(report["problems"][0]["related"][0]["location"]["offset"] == 23);
}

TEST_CASE("a pointer names the innermost fact that covers a place") {
  constexpr std::string_view manifest =
      R"({"opseal_manifest": 1, "opsets": {"a/b~c": 1}, "x-mine": {"deep": 7},)"
      R"( "operators": [{"name": "a", "typo": 3, "tags": ["t", 5]}]})";
  CHECK(pointer_at(manifest, "\"typo\"") == "/operators/0");
  CHECK(pointer_at(manifest, "5") == "/operators/0/tags/1");
  CHECK(pointer_at(manifest, "\"t\"") == "/operators/0/tags/0");
  CHECK(pointer_at(manifest, "\"a/b~c\"") == "/opsets/a~1b~0c");
  CHECK(pointer_at(manifest, "{\"deep\"") == "/x-mine");
  CHECK(pointer_at(manifest, "7") == "/x-mine");
  CHECK(pointer_at(manifest, "{\"opseal_manifest\"").empty());
}

TEST_CASE("pointers into a long list count right") {
  std::string manifest = R"({"opseal_manifest": 1, "operators": [)";
  for (int i = 0; i < 3000; ++i) {
    manifest += (i > 0 ? "," : "") + std::string(R"({"name": "op)") + std::to_string(i) + "\"}";
  }
  manifest += "]}";
  const Facts facts = read_text(manifest);
  REQUIRE(facts.problems.empty());
  PlaceNames names(facts);
  for (const int wanted : {0, 1, 1499, 2998, 2999}) {
    const std::string text = "\"op" + std::to_string(wanted) + '"';
    const Location where{0, static_cast<std::uint32_t>(text.size()), manifest.find(text)};
    CHECK(names.logical(where) == "/operators/" + std::to_string(wanted) + "/name");
    CHECK(names.stable(where) == "operators/name");
  }
}

}  // namespace opseal::test
