// `opseal probe` on the kernels of tests/native/probe/derivatives.cpp: a JVP or a gradient that is
// none of its operator is told, along the input for which it is none, and right ones pass.

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/process.h"

namespace opseal::test {
namespace {

using nlohmann::json;

ProcessResult probe(std::vector<std::string> arguments) {
  std::vector<std::string> command{OPSEAL_BINARY, "probe",        "--no-config",
                                   "--no-ignore", "--time-limit", "5"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.push_back(std::string(OPSEAL_PROBE_FOLDER) + "/derivatives.json");
  return run_process(command);
}

json report(const std::string& seed = "1") {
  const ProcessResult result = probe({"-o", "json", "--seed", seed});
  REQUIRE(result.status == 1);
  return json::parse(result.output);
}

const json& first_report() {
  static const json parsed = report();
  return parsed;
}

// Of an operator: rule and input of each finding.
std::set<std::string> findings_of(const json& report, const std::string& op) {
  std::set<std::string> found;
  for (const json& finding : report["findings"]) {
    if (finding["subject"] != op) continue;
    const std::string message = finding["message"];
    std::string input;
    for (const std::string& before : {std::string(" along `"), std::string(" gives another `")}) {
      const std::size_t at = message.find(before);
      if (at == std::string::npos) continue;
      const std::size_t begin = at + before.size();
      input = message.substr(begin, message.find('`', begin) - begin);
    }
    found.insert(finding["rule"].get<std::string>() + ' ' + input);
  }
  return found;
}

// Statuses of the probes of its derivatives, with the reasons of those that are skipped.
std::map<std::string, int> statuses_of(const std::string& op) {
  std::map<std::string, int> statuses;
  for (const json& one : first_report()["probes"]) {
    if (one.value("operator", "") != op) continue;
    if (one["kind"] != "jvp" && one["kind"] != "transpose") continue;
    const std::string status = one["status"];
    ++statuses[status == "skipped" ? one.value("reason", "") : status];
  }
  return statuses;
}

using Words = std::set<std::string>;
using Counts = std::map<std::string, int>;

const std::map<std::string, Words>& lies() {
  static const std::map<std::string, Words> all = {
      {"jvp_loses_weight", {"jvp-numeric w"}},
      {"vjp_loses_factor", {"transpose-numeric x"}},
      {"vjp_loses_sum", {"transpose-numeric w"}},
      {"vjp_gives_nothing", {"transpose-numeric w"}},
      {"vjp_is_no_number", {"transpose-numeric w"}},
      {"vjp_wrong_blocks", {"transpose-numeric x"}},
      {"matvec_indexed", {"transpose-numeric x"}},
      {"cosine_sign", {"jvp-numeric x"}},
      {"scale_rows_backward_writes", {"transpose-numeric w"}},
      {"sort_backward_takes", {"transpose-numeric x"}},
      {"sort_backward_leaves", {"probe-unwritten "}},
      {"take_rows_backward_first", {"transpose-numeric x"}},
      {"take_rows_backward_last", {"transpose-numeric x"}},
      {"cosine_both_sine", {"jvp-numeric y"}},
  };
  return all;
}

}  // namespace

TEST_CASE("probe: derivatives that are none are told, along the input") {
  for (const auto& lie : lies()) {
    INFO(lie.first);
    CHECK(findings_of(first_report(), lie.first) == lie.second);
  }
  CHECK(first_report()["findings"].size() == lies().size());
  for (const json& finding : first_report()["findings"]) {
    // Of a result that isn't the derivative less is known.
    const bool repeated = finding["subject"] == "cosine_both_sine";
    CHECK(finding["severity"] == (repeated ? "warning" : "error"));
  }
}

TEST_CASE("probe: right derivatives pass, along each input and in three sizes") {
  CHECK(statuses_of("square_scale_jvp") == Counts{{"passed", 6}});
  CHECK(statuses_of("square_scale_vjp") == Counts{{"passed", 6}});
  // Its own names of extents; the operator says in `gradient` which one it is.
  CHECK(statuses_of("matvec_transposed") == Counts{{"passed", 3}});
  // With what the operator keeps for it.
  CHECK(statuses_of("sum_exp_vjp") == Counts{{"passed", 3}});
  // Of positive numbers alone.
  CHECK(statuses_of("log_jvp") == Counts{{"passed", 3}});
  CHECK(statuses_of("cosine_jvp") == Counts{{"passed", 3}});
  CHECK(statuses_of("relu_vjp") == Counts{{"passed", 3}});
  CHECK(statuses_of("sort_backward") == Counts{{"passed", 3}});
  CHECK(statuses_of("exp_in_place_backward") == Counts{{"passed", 3}});
  CHECK(statuses_of("exp_in_place_jvp") == Counts{{"passed", 3}});
  // Each dtype by a kernel of its own.
  CHECK(statuses_of("root_backward") == Counts{{"passed", 6}});
  // With integers that are not all alike.
  CHECK(statuses_of("take_rows_backward") == Counts{{"passed", 3}});
  CHECK(statuses_of("cosine_both") == Counts{{"passed", 3}});
  CHECK(statuses_of("put_rows_backward") ==
        Counts{{"passed", 2},
               {"differs where integers repeat, and has too many elements to be asked one by one",
                1}});
  // Sums that arguments hold.
  CHECK(statuses_of("scale_rows_backward") == Counts{{"passed", 6}});
}

TEST_CASE("probe: what derivatives can't be asked of is skipped, with the reason") {
  CHECK(statuses_of("step_vjp") == Counts{{"the function does not change at any smooth point", 3}});
  CHECK(statuses_of("step_excused_vjp") == Counts{{"it is declared to have no derivative", 3}});
  CHECK(statuses_of("quadratic_backward") ==
        Counts{{"its gradient is symmetric, as of a matrix of which one half is read", 3}});
  CHECK(statuses_of("sort_backward_jvp") ==
        Counts{{"`sort_backward`, its operator, is itself handed results of another one", 1}});
  CHECK(statuses_of("of_nothing") ==
        Counts{{"its operands are tangents or cotangents, and nobody says of which operator "
                "(`derivative_of`)",
                1}});
  CHECK(statuses_of("of_no_kernel") ==
        Counts{{"no input has an operator `absent` with a kernel that could be called", 1}});
  CHECK(statuses_of("of_no_input") ==
        Counts{{"`tx` is the tangent of `z`, which is no input of `cosine`", 1}});
  CHECK(statuses_of("of_other_shape") == Counts{{"`x` hasn't the shape of `x` of `log`", 1}});
  CHECK(statuses_of("of_other_dtype") ==
        Counts{{"none of its combinations of dtypes fits one of `cosine`", 1}});
  CHECK(statuses_of("of_other_attribute") ==
        Counts{{"its attribute `alpha` has another value than that of `scale_rows`", 1}});
}

TEST_CASE("probe: a call of a gradient is handed what its operator saved") {
  std::map<std::string, Counts> statuses;
  for (const json& one : first_report()["probes"]) {
    if (one["kind"] != "call" && one["kind"] != "threads") continue;
    const std::string status = one["status"];
    ++statuses[one["operator"]][status == "skipped" ? one.value("reason", "") : status];
  }
  // A permutation: of whatever else some element of the result would not be written.
  CHECK(statuses["sort_backward"] == Counts{{"passed", 5}});
  CHECK(statuses["sort_backward_leaves"] == Counts{{"differs", 4}, {"passed", 1}});
  CHECK(
      statuses["of_unsaid"] ==
      Counts{{"nobody says whether `order` is an input of `absent` or a result that it saves", 5}});
}

TEST_CASE("probe: derivatives are judged alike from whatever numbers") {
  for (const char* seed : {"2", "19", "77"}) {
    INFO(seed);
    const json other = report(seed);
    std::map<std::string, Words> found;
    for (const json& finding : other["findings"]) {
      const std::string op = finding["subject"];
      found[op] = findings_of(other, op);
    }
    CHECK(found == lies());
  }
}

TEST_CASE("probe: a derivative alone is asked again") {
  const std::string identity = "libderivatives.so:JvpLosesWeight/jvp/f64,f64,f64,f64,f64/n=3,k=5/w";
  const json alone = json::parse(probe({"-o", "json", "--only", identity}).output);
  REQUIRE(alone["probes"].size() == 1);
  CHECK(alone["probes"][0]["identity"] == identity);
  CHECK(alone["probes"][0]["status"] == "differs");
  CHECK(alone["probes"][0]["counterpart"] == "libderivatives.so:SquareScale");
  CHECK(alone["findings"].size() == 1);
}

}  // namespace opseal::test
