// Every folder in fixtures/ against its expected.txt. A rule's folder holds cases: those named
// `fires...` must give findings, those named `quiet...` none, and in both the rule must have had
// something to look at. Each case is audited by itself and by this rule alone. A case of a rule
// that compares holds the two dumps `before.json` and `after.json`.

#include <doctest/doctest.h>

#include <string>

#include "rules/rules.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

std::string run_case(const std::string& rule, const fs::path& folder, const std::string& name) {
  const fs::path path = fs::relative(folder / name, source_dir());
  const Audit audit =
      find_rule(rule)->two_dumps
          ? diff_paths((path / "before.json").string(), (path / "after.json").string(), {rule})
          : audit_paths({path.string()}, {rule});
  REQUIRE(audit.runs.size() == 1);
  const RuleRun& run = audit.runs.front();
  INFO("case " << name << ": " << run.reason);
  CHECK(audit.facts.problems.empty());
  CHECK(run.inspected > 0);
  CHECK(run.findings == audit.findings.size());
  if (name.starts_with("fires")) CHECK(!audit.findings.empty());
  if (name.starts_with("quiet")) CHECK(audit.findings.empty());
  CHECK_MESSAGE((name.starts_with("fires") || name.starts_with("quiet")), "case name");
  return "== " + name + ": inspected " + std::to_string(run.inspected) + "\n" + text_report(audit) +
         "\n";
}

}  // namespace

TEST_CASE("fixtures") {
  fs::current_path(source_dir());
  for (const std::string& rule : folders_in("fixtures")) {
    if (rule.starts_with("_")) continue;
    SUBCASE(rule.c_str()) {
      REQUIRE_MESSAGE(find_rule(rule) != nullptr, "no rule has this folder's name");
      const fs::path folder = source_dir() / "fixtures" / rule;
      std::string actual;
      bool fires = false;
      bool quiet = false;
      for (const std::string& name : folders_in(folder)) {
        actual += run_case(rule, folder, name);
        fires = fires || name.starts_with("fires");
        quiet = quiet || name.starts_with("quiet");
      }
      CHECK(fires);
      CHECK(quiet);
      check_or_bless(folder / "expected.txt", actual);
    }
  }
}

}  // namespace opseal::test
