// What probes say of findings that rest on reading alone.

#include "rules/probe_verdicts.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "rules/rules.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

Finding finding_of(std::string_view rule, std::string subject, std::string message) {
  Finding finding;
  finding.rule = find_rule(rule);
  REQUIRE(finding.rule != nullptr);
  finding.subject = std::move(subject);
  finding.message = std::move(message);
  return finding;
}

constexpr const char* probes = R"({"opseal_manifest": 1, "probes": [
  {"kind": "signature", "identity": "a", "target": "fits", "symbol": "Fits", "status": "passed"},
  {"kind": "signature", "identity": "b", "target": "differs", "symbol": "Differs",
   "status": "differs", "deviations": [{"kind": "signature", "name": "arguments"}]},
  {"kind": "signature", "identity": "c", "target": "dies", "symbol": "Dies", "status": "crashed"},
  {"kind": "metadata", "identity": "d", "library": "a.so", "symbol": "There", "status": "passed"},
  {"kind": "metadata", "identity": "e", "library": "a.so", "symbol": "Gone", "status": "skipped",
   "reason": "the library exports no `Gone`"},
  {"kind": "metadata", "identity": "f", "library": "a.so", "symbol": "Shut", "status": "skipped",
   "reason": "libcudart.so.12: cannot open shared object file"}
]})";

}  // namespace

TEST_CASE("probe verdicts: what a call refutes is dropped, and what it confirms says so") {
  const Facts facts = read_text(probes);
  REQUIRE(facts.problems.empty());
  std::vector<Finding> findings = {
      finding_of("spec-signature-mismatch", "fits", "2 arguments"),
      finding_of("spec-signature-mismatch", "differs", "2 arguments"),
      finding_of("spec-signature-mismatch", "dies", "2 arguments"),
      finding_of("spec-signature-mismatch", "never called", "2 arguments"),
      // Another rule's finding about the same thing.
      finding_of("spec-bad-token", "fits", "a token"),
      finding_of("export-missing", "target t", "`a.so` doesn't export `There`"),
      finding_of("export-missing", "target t", "`a.so` doesn't export `Gone`"),
      finding_of("export-missing", "target t", "`a.so` doesn't export `Shut`"),
      finding_of("export-missing", "target t", "`b.so` doesn't export `There`"),
  };
  CHECK(apply_probe_verdicts(facts, findings) == 2);
  std::string left;
  for (const Finding& finding : findings) {
    left += finding.subject + (finding.confirmed ? "+" : "-") +
            std::to_string(finding.related.size()) + ' ';
  }
  CHECK(left == "differs+1 dies-0 never called-0 fits-0 target t+1 target t-0 target t-0 ");
}

}  // namespace opseal::test
