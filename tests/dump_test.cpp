#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "cli/commands.h"
#include "rules/rules.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

std::string dump_of(const Facts& facts) {
  REQUIRE(facts.documents.size() == 1);
  std::ostringstream out;
  write_dump(facts, facts.documents.front(), out);
  return out.str();
}

std::string dump_of(std::string_view manifest) { return dump_of(read_text(manifest)); }

std::string findings_of(const Audit& audit) {
  std::string out;
  for (const Finding& finding : audit.findings) {
    out += std::string(finding.rule->id) + ": " + finding.subject + ": " + finding.message + '\n';
  }
  for (const RuleRun& run : audit.runs) {
    if (run.inspected > 0) {
      out += std::string(run.rule->id) + " inspected " + std::to_string(run.inspected) + '\n';
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a dump read again gives the same findings") {
  int manifests = 0;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(source_dir() / "fixtures")) {
    if (entry.path().extension() != ".json") continue;
    if (entry.path().string().find("_damaged") != std::string::npos) continue;
    const std::string text = read_file(entry.path());
    if (text.find("\"opseal_manifest\"") == text.npos) continue;
    const Audit audit = audit_text(text);
    INFO(entry.path().string());
    // Those that are damaged on purpose say less than they hold.
    if (entry.path().parent_path().filename() == "_damaged") continue;
    REQUIRE(audit.facts.documents.size() == 1);
    CHECK(audit.facts.problems.empty());
    const std::string dumped = dump_of(audit.facts);
    const Audit again = audit_text(dumped);
    CHECK(again.facts.problems.empty());
    CHECK(findings_of(again) == findings_of(audit));
    CHECK(dump_of(again.facts) == dumped);
    ++manifests;
  }
  CHECK(manifests >= static_cast<int>(2 * all_rules().size()));
}

TEST_CASE("a dump has a line for each operator") {
  CHECK(dump_of(R"({"opseal_manifest":1,"platforms":["cpu"],"operators":[{"name":"a"},
                    {"name":"b","inputs":2}],"targets":[]})") ==
        "{\n \"opseal_manifest\": 1,\n \"platforms\": [\"cpu\"],\n \"operators\": [\n"
        "  {\"name\":\"a\"},\n  {\"name\":\"b\",\"inputs\":2}\n ],\n \"targets\": []\n}\n");
}

TEST_CASE("keys that begin with x- are kept as they were, on one line") {
  CHECK(dump_of("{\"opseal_manifest\": 1, \"x-a\\\"b\": {\"k\": [1,\n 2.50, \" \\\" s \"]}}") ==
        "{\n \"opseal_manifest\": 1,\n \"x-a\\\"b\": {\"k\":[1,2.50,\" \\\" s \"]}\n}\n");
}

TEST_CASE("reals keep their precision") {
  CHECK(dump_of(R"({"opseal_manifest": 1, "operators": [{"name": "a", "kernels": [)"
                R"({"platform": "cpu", "priority": 0.1}, {"platform": "cpu", "priority": 1e300},)"
                R"({"platform": "cpu", "priority": 3},)"
                R"({"platform": "cpu", "priority": 0.30000000000000004}]}]})") ==
        "{\n \"opseal_manifest\": 1,\n \"operators\": [\n  {\"name\":\"a\",\"kernels\":["
        "{\"platform\":\"cpu\",\"priority\":0.1},{\"platform\":\"cpu\",\"priority\":1e+300},"
        "{\"platform\":\"cpu\",\"priority\":3},"
        "{\"platform\":\"cpu\",\"priority\":0.30000000000000004}]}\n ]\n}\n");
}

TEST_CASE("a list with an unread element is not said") {
  CHECK(dump_of(R"({"opseal_manifest": 1, "platforms": ["cpu", 3], "operators": [{"name": "a",
                    "tags": ["t", 1], "traced_signatures": [["f32"], ["f32", null]],
                    "inputs": 2}]})") ==
        "{\n \"opseal_manifest\": 1,\n \"operators\": [\n  {\"name\":\"a\",\"inputs\":2}\n ]\n}\n");
}

TEST_CASE("an operator that could not be read leaves the others") {
  CHECK(dump_of(R"({"opseal_manifest": 1, "operators": [{"name": "a"}, 7, {"name": "b"}]})") ==
        "{\n \"opseal_manifest\": 1,\n \"operators\": [\n  {\"name\":\"a\"},\n  {\"name\":\"b\"}\n"
        " ]\n}\n");
}

}  // namespace opseal::test
