#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "opseal/rule.h"
#include "rules/rules.h"
#include "tests/support.h"

namespace opseal::test {

TEST_CASE("thousands of registrations of one handler that reaches thousands take a moment") {
  std::string operators;
  std::string reaches;
  std::string kernels = R"({"name": "mv_q5_0_7"})";
  for (int at = 0; at < 4000; ++at) {
    const std::string number = std::to_string(at);
    const std::string comma = at == 0 ? "" : ", ";
    operators += comma + R"({"name": "mv)" + number +
                 R"(", "kernels": [{"platform": "cuda", "dtypes": ["q5_0"], "symbol": "launch", )" +
                 R"("library": "l.so"}]})";
    reaches += comma + "\"mv_q4_0_" + number + '"';
    kernels += R"(, {"name": "mv_q4_0_)" + number + "\"}";
  }
  const Facts facts = read_text(
      R"({"opseal_manifest": 1, "system": "engine", "operators": [)" + operators +
      R"(, {"name": "other", "kernels": [{"platform": "cuda", "dtypes": ["q4_0"]}]}], )" +
      R"("libraries": [{"path": "l.so", "format": "elf", "exports": [{"name": "launch"}], )" +
      R"("handlers": [{"symbol": "launch", "reaches": [)" + reaches + "]}], " +
      R"("images": [{"kind": "sass", "architecture": "sm_90", "kernels": [)" + kernels + "]}]}]}");
  REQUIRE(facts.problems.empty());
  std::vector<Finding> findings;
  const auto start = std::chrono::steady_clock::now();
  run_rule(*find_rule("symbol-kind-mismatch"), facts, findings);
  // The product of both takes many times that.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK(findings.size() == 4000);
}

}  // namespace opseal::test
