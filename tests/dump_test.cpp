#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "analyzers/analyzers.h"
#include "cli/commands.h"
#include "cli/place_names.h"
#include "cli/tiers.h"
#include "rules/rules.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

std::string dump_of(const Facts& facts) {
  REQUIRE(facts.documents.size() == 1);
  std::ostringstream out;
  write_dump(facts, out);
  return out.str();
}

std::string dump_of(std::string_view manifest) { return dump_of(read_text(manifest)); }

// A message without the places that a dump of sources states, and a source shows otherwise.
std::string without_places(std::string message) {
  constexpr std::string_view before = " (registered at `";
  constexpr std::string_view start = " (`";
  for (std::size_t at = message.find(before); at != message.npos; at = message.find(before, at)) {
    message.replace(at, before.size(), start);
  }
  for (std::size_t at = message.find(start); at != message.npos; at = message.find(start, at)) {
    const std::size_t end = message.find("`)", at);
    const std::size_t colon = message.find(".py:", at) < end    ? message.find(".py:", at)
                              : message.find(".cpp:", at) < end ? message.find(".cpp:", at)
                                                                : message.find(".cu:", at);
    if (end == message.npos) break;
    if (colon < end) {
      message.erase(at, end + 2 - at);
    } else {
      at = end;
    }
  }
  return message;
}

// Of a whole audit of sources or of their dump, whatever the order.
std::multiset<std::string> judgement_of(const Audit& audit) {
  std::multiset<std::string> out;
  const Tiers tiers(audit.facts);
  for (const Finding& finding : audit.findings) {
    out.insert(std::string(finding.rule->id) + ' ' + to_text(finding.severity) + ' ' +
               std::to_string(static_cast<int>(tiers.of(finding))) + ": " + finding.subject + ": " +
               without_places(finding.message) +
               (finding.silenced_by.empty() ? "" : ", silenced by " + finding.silenced_by));
  }
  for (const RuleRun& run : audit.runs) {
    if (run.inspected > 0) {
      out.insert(std::string(run.rule->id) + " inspected " + std::to_string(run.inspected));
    }
  }
  return out;
}

// Every rule on the sources, and on their dump.
void check_round_trip(const std::string& path) {
  INFO(path);
  const Audit audit = audit_paths({path}, {"*"});
  if (audit.source_trees == 0) return;
  std::ostringstream out;
  Options options;
  options.paths = {path};
  options.no_config = true;
  options.no_ignore = true;
  write_dump(read_inputs(options).facts, out);
  const Tree tree;
  tree.add("dump.json", out.str());
  const Audit again = audit_paths({"dump.json"}, {"*"});
  for (const Problem& problem : again.facts.problems) {
    INFO(problem.message);
    // A comment that silences nothing is told of both.
    CHECK((problem.severity == Severity::note || problem.message.starts_with("`opseal: ignore")));
  }
  const std::multiset<std::string> expected = judgement_of(audit);
  const std::multiset<std::string> actual = judgement_of(again);
  for (const std::string& one : expected) CHECK_MESSAGE(actual.contains(one), one);
  for (const std::string& one : actual) CHECK_MESSAGE(expected.contains(one), one);
  CHECK(actual.size() == expected.size());
}

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

TEST_CASE("a dump of sources read again gives the same findings") {
  int cases = 0;
  for (const std::string& rule : folders_in(source_dir() / "fixtures")) {
    if (rule.starts_with("_")) continue;
    for (const std::string& name : folders_in(source_dir() / "fixtures" / rule)) {
      const fs::path folder = source_dir() / "fixtures" / rule / name;
      if (folders_in(folder).empty()) continue;
      fs::current_path(source_dir());
      check_round_trip(fs::relative(folder, source_dir()).string());
      ++cases;
    }
  }
  CHECK(cases > 100);
}

TEST_CASE("a dump of sources says which facts a comment speaks of") {
  const Tree tree;
  // Several documents; the finding of one is at another line than its registration begins.
  tree.add("project/ops.cpp",
           "TORCH_LIBRARY(demo, m) {\n"
           "  m.def(\n"
           "    // opseal: ignore(schema-malformed): kept as it was\n"
           "    \"rope(Tensor x -> Tensor\");\n"
           "  m.def(\"norm(Tensor x) -> Tensor\");\n"
           "  // opseal: ignore(schema-malformed): of nothing\n"
           "  m.impl(\"norm\", &norm);\n"
           "}\n");
  tree.add("project/ops.cu",
           "__global__ void scale(float* x) { x[0] = 1; }\n"
           "void run(float* x) {\n"
           "  scale<<<1, 1>>>(x);  // opseal: ignore(launch-unchecked): the caller asks\n"
           "}\n");
  const Audit audit = audit_paths({"project"}, {"schema-malformed", "launch-unchecked"});
  CHECK(audit.suppressed == 2);
  REQUIRE(audit.facts.documents.size() == 2);
  check_round_trip("project");
  const std::string dumped = [&] {
    std::ostringstream out;
    write_dump(audit.facts, out);
    return out.str();
  }();
  tree.add("dump.json", dumped);
  const Audit again = audit_paths({"dump.json"}, {"schema-malformed", "launch-unchecked"});
  CHECK(again.suppressed == 2);
  CHECK(again.counts.errors + again.counts.warnings == 0);
  REQUIRE(again.facts.problems.size() == 1);
  CHECK(again.facts.problems[0].message ==
        "`opseal: ignore(schema-malformed)` silences nothing: the rule has no finding at what it "
        "speaks of");
  CHECK(again.findings[0].evidence.where.known());
  CHECK(logical_name(again.facts, again.findings[0].evidence.where) == "/0/operators/1/schema");
}

TEST_CASE("what a folder says of several systems is a list of manifests") {
  const Facts facts = read_text(R"( [{"opseal_manifest": 1, "system": "torch", "operators":
      [{"name": "a"}]}, {"opseal_manifest": 1, "operators": [{"name": "b", "tags": ["x"]}]}])");
  CHECK(facts.problems.empty());
  REQUIRE(facts.documents.size() == 2);
  const Fact tag = *facts.root(facts.documents[1])[Key::operators].items().begin();
  CHECK(logical_name(facts, tag[Key::tags].where()) == "/1/operators/0/tags");
  CHECK(stable_name(facts, tag[Key::tags].where()) == "operators/tags");
  CHECK(logical_name(facts, facts.root(facts.documents[1]).where()) == "/1");
  std::ostringstream out;
  write_dump(facts, out);
  CHECK(out.str() ==
        "[\n{\n \"opseal_manifest\": 1,\n \"system\": \"torch\",\n \"operators\": [\n"
        "  {\"name\":\"a\"}\n ]\n},\n{\n \"opseal_manifest\": 1,\n \"operators\": [\n"
        "  {\"name\":\"b\",\"tags\":[\"x\"]}\n ]\n}\n]\n");
  for (const std::string_view broken :
       {R"([{"opseal_manifest": 1}, 7])", R"([{"opseal_manifest": 1} {"opseal_manifest": 1}])",
        R"([{"opseal_manifest": 1})", R"([{"opseal_manifest": 1}]])"}) {
    const Facts none = read_text(broken);
    CHECK(none.documents.empty());
    CHECK(none.problems.size() == 1);
  }
}

TEST_CASE("a list is told from other JSON by its first manifest") {
  const auto accepts = [](std::string_view text) {
    return accepts_manifest(text, true) == Accepts::yes;
  };
  CHECK(accepts(R"([{"opseal_manifest": 1}])"));
  CHECK(accepts(" \n[\n{\"operators\": [], \"opseal_manifest\": 1}, {}]"));
  CHECK_FALSE(accepts(R"(["opseal_manifest", 1])"));
  CHECK_FALSE(accepts("["));
  CHECK_FALSE(accepts(R"([{"name": "opseal_manifest"}])"));
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
