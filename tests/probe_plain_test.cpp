// `opseal probe` on the plain C functions of tests/native/probe/plain.cpp, as plain.json describes
// them: each lie is told by exactly the rule that is made for it, and the honest twins pass.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/process.h"

namespace opseal::test {
namespace {

using nlohmann::json;
using Texts = std::set<std::string>;

json probe_plain(std::vector<std::string> arguments, int status) {
  std::vector<std::string> command{OPSEAL_BINARY, "probe", "--no-config",  "--no-ignore",
                                   "-o",          "json",  "--time-limit", "2"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.push_back(std::string(OPSEAL_PROBE_FOLDER) + "/plain.json");
  const ProcessResult result = run_process(command);
  REQUIRE(result.status == status);
  return json::parse(result.output);
}

const json& plain_report() {
  static const json parsed = probe_plain({}, 1);
  return parsed;
}

// Rules that tell of an operator. Two of them are for declarations, and hear probes as well.
Texts rules_about(const std::string& op) {
  Texts rules;
  for (const json& finding : plain_report()["findings"]) {
    if (finding["subject"] == op) rules.insert(finding["rule"]);
  }
  return rules;
}

std::vector<json> probes_of(const std::string& op) {
  std::vector<json> probes;
  for (const json& one : plain_report()["probes"]) {
    if (one.value("operator", "") == op) probes.push_back(one);
  }
  return probes;
}

std::map<std::string, int> count_statuses(const std::string& op) {
  std::map<std::string, int> statuses;
  for (const json& one : probes_of(op)) ++statuses[one["status"]];
  return statuses;
}

// Of calls with three rows, or elements: what follows the extents in their identities.
Texts views_of(const std::string& op) {
  Texts views;
  for (const json& one : probes_of(op)) {
    const std::string identity = one["identity"];
    const std::size_t slash = identity.rfind('/');
    const std::string last = identity.substr(slash + 1);
    const bool odd = identity.find("n=3") != identity.npos || identity.find("b=3") != identity.npos;
    if (odd && last.find('=') != last.npos && last.find("n=") != 0 && last.find("b=") != 0) {
      views.insert(last);
    }
  }
  return views;
}

// Why an operator's kernel isn't called.
std::string reason_of(const std::string& op) {
  for (const json& one : probes_of(op)) {
    if (one["status"] == "skipped") return one["reason"];
  }
  return "";
}

json view_strides(const std::string& end) {
  for (const json& one : plain_report()["probes"]) {
    if (!std::string(one["identity"]).ends_with(end)) continue;
    for (const char* side : {"arguments", "results"}) {
      for (const json& operand : one[side]) {
        if (operand.contains("strides")) return operand["strides"];
      }
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("plain kernels: honest ones pass every probe") {
  for (const char* op : {"axpy", "copy_any", "copy_cube", "row_sums", "negate_bytes", "sum_fast",
                         "scale_in_place", "many_arguments", "dot", "first_sign"}) {
    INFO(op);
    CHECK(rules_about(op) == Texts{});
    std::map<std::string, int> statuses = count_statuses(op);
    CHECK(statuses["passed"] >= 5);
    CHECK(statuses.size() == 1);
  }
  // Who says no to a view has not failed it.
  CHECK(rules_about("dense_only") == Texts{});
  CHECK(count_statuses("dense_only")["refused"] == 9);
  // An exception is a refusal, too.
  CHECK(rules_about("throws_on_many") == Texts{});
  CHECK(count_statuses("throws_on_many") ==
        std::map<std::string, int>{{"passed", 4}, {"refused", 2}});
  for (const json& one : probes_of("throws_on_many")) {
    // The call of many threads is one with as many elements.
    if (one["status"] != "refused" || one["kind"] == "threads") continue;
    CHECK(one["reason"] == "throws: too many");
  }
}

TEST_CASE("plain kernels: a refusal that says nothing of dtypes accuses nobody") {
  // Perhaps the call breaks a rule that nobody wrote down; that nothing is served is told.
  CHECK(rules_about("refuses_all") == Texts{"probe-never-served"});
  CHECK(count_statuses("refuses_all")["refused"] >= 4);
}

TEST_CASE("plain kernels: each lie is told by the rule that is made for it") {
  const std::map<std::string, Texts> expected = {
      {"ignores_strides", {"layout-stride-unread"}},
      {"swaps_strides", {"layout-stride-unread"}},
      {"fills_gaps", {"layout-stride-unread"}},
      {"writes_past", {"probe-out-of-bounds"}},
      {"leaves_tail", {"probe-unwritten"}},
      {"writes_input", {"mutation-unmarked"}},
      {"thirds", {"probe-ulp"}},
      {"dot_wrong", {"probe-alternatives"}},
      {"divides", {"probe-crash"}},
      {"shared_memory", {"probe-threads"}},
  };
  for (const auto& row : expected) {
    const std::string& op = row.first;
    const std::set<std::string>& rules = row.second;
    INFO(op);
    CHECK(rules_about(op) == rules);
  }
}

TEST_CASE("plain kernels: views are those of the strides that are told") {
  CHECK(views_of("copy_any") == Texts{"x=broadcast", "x=gapped", "x=permuted", "x=reversed",
                                      "y=gapped", "y=permuted", "y=reversed"});
  // Rows alone, and nothing that isn't above 0.
  CHECK(views_of("row_sums") == Texts{"a=gapped"});
  // An unsigned stride is never negative.
  CHECK(views_of("negate_bytes") == Texts{"x=broadcast", "x=gapped"});
  // It is written.
  CHECK(views_of("scale_in_place") == Texts{"x=gapped", "x=reversed"});
  CHECK(views_of("axpy") == Texts{});
  const std::string cube = "copy_any#2/call/f32,f32/b=3,n=5,k=7/x=";
  CHECK(view_strides(cube + "permuted") == json{1, 3, 15});
  CHECK(view_strides(cube + "gapped") == json{70, 14, 2});
  CHECK(view_strides(cube + "reversed") == json{-35, -7, -1});
  CHECK(view_strides(cube + "broadcast") == json{0, 7, 1});
}

TEST_CASE("plain kernels: nothing is asked of a dtype that they aren't told") {
  for (const json& one : plain_report()["probes"]) {
    INFO(one.dump());
    CHECK(one["kind"] != "metadata");
    CHECK(one["kind"] != "signature");
    CHECK(one.value("declared", true));
  }
}

TEST_CASE("plain kernels: what can't be followed is skipped, and says why") {
  CHECK(reason_of("no_such_operand").find("`w` among its `arguments`") == 0);
  CHECK(reason_of("no_such_type").find("`n:quaternion` among its `arguments`") == 0);
  CHECK(reason_of("two_results").find("a C function has one result") == 0);
  CHECK(reason_of("returns_vector") == "`y` is returned and has axes");
  CHECK(reason_of("returns_input") == "`x` is returned and is no result");
  CHECK(reason_of("real_status").find("`float32` as a result") == 0);
  bool told = false;
  for (const json& one : probes_of("narrow_size")) {
    CHECK(one["status"] == "skipped");
    told = told ||
           one["reason"] == "one of its `arguments` can't hold the number of a call with n=1031";
  }
  CHECK(told);
}

TEST_CASE("plain kernels: a view is called again by its identity, and gives the same") {
  const std::string identity = "libplain.so:swaps_strides/call/f32,f32/n=3,k=5/x=permuted";
  const json again =
      probe_plain({"--only", identity, "--select", "layout-stride-unread"}, 1)["probes"];
  REQUIRE(again.size() == 1);
  json second = again[0];
  CHECK(second["deviations"][0]["expected"] == "as in the dense call");
  second.erase("seconds");
  for (json first : probes_of("swaps_strides")) {
    if (first["identity"] != identity) continue;
    first.erase("seconds");
    CHECK(first == second);
  }
}

}  // namespace opseal::test
