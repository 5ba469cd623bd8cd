#include <doctest/doctest.h>

#include <string>

#include "rules/rules.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

Audit surplus_audit(const std::string& name, const std::string& in_front) {
  return audit_text("{\"opseal_manifest\": 1, \"operators\": [{\"name\": \"" + name + "\", " +
                        in_front +
                        R"("inputs": 1, "jvp": {"kind": "per_input", "rules": [null, null]}}]})",
                    {find_rule("jvp-arity")});
}

}  // namespace

TEST_CASE("an excerpt of a long line shows the value that it marks") {
  const std::string long_text(500, 'x');
  const std::string text = text_report(surplus_audit("a", "\"schema\": \"" + long_text + "\", "));
  CHECK(text.find("\"rules\": [null, null]") != text.npos);
  const std::size_t mark = text.find('^');
  REQUIRE(mark != text.npos);
  CHECK(text.substr(mark).starts_with("^~~~~~~~~~~~ rules counted here\n"));
}

TEST_CASE("an excerpt of a line that fits is the line") {
  const std::string text = text_report(surplus_audit("a", ""));
  CHECK(text.find("\u2026") != text.npos);
  const std::string short_line = text_report(audit_text(
      "{\"opseal_manifest\": 1, \"operators\": [\n{\"name\": \"a\", \"inputs\": 1,\n \"jvp\": "
      "{\"kind\": \"per_input\", \"rules\": [null, null]}}]}",
      {find_rule("jvp-arity")}));
  CHECK(short_line.find("\u2026") == short_line.npos);
}

TEST_CASE("a name can't drive the terminal") {
  const std::string text = text_report(surplus_audit("a\\u001b[31m\\u009b", ""));
  CHECK(text.find('\x1b') == text.npos);
  CHECK(text.find("a\\x1b[31m\\xc2\\x9b: 2 JVP rules") != text.npos);
}

TEST_CASE("silenced findings are counted and not shown") {
  Audit audit = surplus_audit("a", "");
  audit.findings[0].silenced_by = "config";
  audit.suppressed = 1;
  audit.baselined = 2;
  const std::string text = text_report(audit);
  CHECK(text.find("jvp-arity") == text.npos);
  CHECK(text.find(", 1 suppressed, 2 in the baseline\n") != text.npos);
}

TEST_CASE("few skipped rules are named with their reasons, many are counted by them") {
  constexpr std::string_view ids[] = {"a-one", "a-two", "a-three", "b-one", "c-one", "d-one"};
  std::vector<Rule> rules(6);
  Audit audit;
  audit.inputs = 1;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules[i].id = ids[i];
    RuleRun run;
    run.rule = &rules[i];
    run.skipped = i < 5;
    if (i < 4) run.missing = i < 3 ? Key::caches : Key::etp;
    if (run.skipped) run.reason = "some reason";
    audit.runs.push_back(run);
  }
  const std::string checked =
      "checked 1 input (0 operators) with 1 rule: 0 errors, 0 warnings, 0 notes\n";
  CHECK(text_report(audit) ==
        checked +
            "skipped 5 rules (`-o json` says why for each): 3 need `caches`, 1 "
            "needs `etp`; nothing to look at for c-one\n");
  audit.runs.erase(audit.runs.begin(), audit.runs.begin() + 3);
  CHECK(text_report(audit) ==
        checked + "skipped 2 rules: b-one (some reason), c-one (some reason)\n");
}

TEST_CASE("a problem with a whole file names no line") {
  Audit audit = audit_text(R"({"opseal_manifest": 1})");
  audit.facts.problems.push_back({Location{0, 0, 0}, "no manifest", {}, Severity::error});
  CHECK(text_report(audit).find("ops.json: problem: no manifest\n") != std::string::npos);
}

}  // namespace opseal::test
