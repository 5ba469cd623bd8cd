// `opseal probe` on the kernels of tests/native/probe/lying.cpp: each lie is told by exactly the
// rule that is made for it, and the honest twins pass.

#include <doctest/doctest.h>

#include <filesystem>
#include <iostream>
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
  std::vector<std::string> command{OPSEAL_BINARY, "probe", "--no-config", "--no-ignore"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command);
}

const std::string& folder() {
  static const std::string path = OPSEAL_PROBE_FOLDER;
  return path;
}

const json& report() {
  static const json parsed = [] {
    const ProcessResult result =
        probe({"-o", "json", "--time-limit", "2", folder() + "/lying.json"});
    REQUIRE(result.status == 1);
    return json::parse(result.output);
  }();
  return parsed;
}

// Rules that tell of an operator.
std::set<std::string> rules_of(const std::string& op) {
  std::set<std::string> rules;
  for (const json& finding : report()["findings"]) {
    if (finding["subject"] == op && finding["tier"] == "probe") rules.insert(finding["rule"]);
    // A rule for declarations, which hears probes as well.
    if (finding["subject"] == op && finding["rule"] == "mutation-unmarked") {
      rules.insert(finding["rule"]);
    }
  }
  return rules;
}

std::map<std::string, int> statuses_of(const std::string& op) {
  std::map<std::string, int> statuses;
  for (const json& one : report()["probes"]) {
    if (one.value("operator", "") == op) ++statuses[one["status"]];
  }
  return statuses;
}

using Rules = std::set<std::string>;

}  // namespace

TEST_CASE("probe: honest kernels pass every probe") {
  for (const char* op : {"honest", "honest_any", "honest_in_place", "honest_shared", "honest_rows",
                         "honest_clip", "honest_grid"}) {
    INFO(op);
    CHECK(rules_of(op).empty());
    std::map<std::string, int> statuses = statuses_of(op);
    CHECK(statuses["passed"] >= 6);
    CHECK(statuses["differs"] == 0);
    CHECK(statuses["crashed"] == 0);
    CHECK(statuses["skipped"] == 0);
  }
  // Indexes are numbers that every extent has.
  CHECK(rules_of("honest_gather").empty());
  CHECK(statuses_of("honest_gather")["crashed"] == 0);
  CHECK(statuses_of("honest_gather")["passed"] >= 4);
  CHECK(rules_of("honest_one_hot").empty());
  CHECK(statuses_of("honest_one_hot")["passed"] >= 4);
  // An extent that is worked out from others.
  CHECK(rules_of("honest_concat").empty());
  CHECK(statuses_of("honest_concat")["skipped"] == 1);
  // What it asks for in words nobody can follow.
  CHECK(rules_of("honest_blocks").empty());
  CHECK(statuses_of("honest_blocks")["skipped"] == 1);
  // Its threads give other values, and it says that they may.
  CHECK(rules_of("cold_start_varies").empty());
  // It gives other bits each time, and nobody said otherwise.
  CHECK(rules_of("honest_noise").empty());
}

TEST_CASE("probe: state that an earlier stage keeps is there") {
  CHECK(rules_of("stateful").empty());
  CHECK(statuses_of("stateful") == std::map<std::string, int>{{"passed", 8}, {"refused", 9}});
  const auto reason_of = [](const std::string& op) {
    for (const json& one : report()["probes"]) {
      if (one.value("operator", "") == op && one["kind"] == "call") return one.value("reason", "");
    }
    return std::string();
  };
  CHECK(reason_of("stateful_refused") == "instantiate: a factor of 0");
  CHECK(rules_of("stateful_refused") == Rules{"probe-never-served"});
  CHECK(reason_of("stateful_unstated") == "needs the state that a stage before it keeps");
  CHECK(reason_of("stateful_absent") == "the library exports no `StateNowhere`");
}

TEST_CASE("probe: each lie is told by the rule that is made for it") {
  const std::map<std::string, Rules> expected = {
      {"leaves_tail", {"probe-unwritten"}},
      {"half_written", {"probe-unwritten"}},
      {"reads_result", {"probe-unwritten"}},
      {"empty_sum", {"probe-unwritten"}},
      {"reads_before", {"probe-out-of-bounds"}},
      {"writes_past", {"probe-out-of-bounds"}},
      {"writes_before", {"probe-out-of-bounds"}},
      {"reads_far", {"probe-out-of-bounds"}},
      {"writes_input", {"mutation-unmarked"}},
      {"in_single", {"probe-narrow"}},
      {"in_half", {"probe-narrow"}},
      {"unstable", {"probe-bitstable"}},
      {"inaccurate", {"probe-ulp"}},
      {"alternatives", {"probe-ulp"}},
      {"loses_update", {"probe-inplace-lost"}},
      {"cold_start", {"probe-threads"}},
      {"cold_start_unstated", {"probe-threads"}},
      {"serves_once", {"probe-refused-again"}},
      {"clips_once", {"probe-refused-again"}},
      {"alternatives_unstated", {"probe-alternatives"}},
      {"divides_by_zero", {"probe-crash"}},
      {"hangs_on_one", {"probe-crash"}},
      {"leaves", {"probe-crash"}},
      {"aborts", {"probe-crash"}},
      {"stack_overflow", {"probe-crash"}},
      {"dtype_lie", {"dtype-lies"}},
      {"takes_anything", {"dtype-undeclared-accepts"}},
      {"wrong_trait", {"handler-metadata"}},
      {"other_attribute", {"probe-signature"}},
      {"other_type", {"probe-signature"}},
      {"two_inputs", {"probe-signature"}},
      {"shares_scratch", {"probe-threads"}},
      {"leaves_even_tail", {"probe-unwritten"}},
      {"no_handshake", {"handler-metadata"}},
  };
  for (const auto& row : expected) {
    const std::string& op = row.first;
    const std::set<std::string>& rules = row.second;
    INFO(op);
    CHECK(rules_of(op) == rules);
  }
}

TEST_CASE("probe: the signature that refusals tell is the one that is bound") {
  std::map<std::string, std::string> signatures;
  for (const json& one : report()["probes"]) {
    if (one["kind"] == "signature") signatures[one["symbol"]] = one.value("reason", "");
  }
  CHECK(signatures["Honest"] == "execute (F32) -> (F32) alpha:scalar<F32>");
  CHECK(signatures["HonestRows"] == "execute (F32 of rank 2) -> (F32 of rank 1)");
  CHECK(signatures["HonestAny"] == "execute (any) -> (any)");
  CHECK(signatures["HonestInPlace"] == "execute (F32, F32) -> ()");
}

TEST_CASE("probe: one probe is run again by its identity, and gives the same") {
  const std::string manifest = folder() + "/lying.json";
  const std::string identity = "liblying.so:LeavesTail/call/f32,f32/n=3";
  const ProcessResult printed = probe({"--repro", identity, manifest});
  CHECK(printed.status == 0);
  CHECK(printed.output.find("--only '" + identity + "'") != std::string::npos);
  const ProcessResult again =
      probe({"-o", "json", "--only", identity, "--select", "probe-unwritten", manifest});
  CHECK(again.status == 1);
  const json parsed = json::parse(again.output);
  REQUIRE(parsed["probes"].size() == 1);
  json first;
  for (const json& one : report()["probes"]) {
    if (one["identity"] == identity) first = one;
  }
  json second = parsed["probes"][0];
  // Its time is its own.
  first.erase("seconds");
  second.erase("seconds");
  CHECK(first == second);
}

TEST_CASE("probe: what can't be called is skipped, and has not passed") {
  const ProcessResult result =
      probe({"-o", "json", "--strict", "--select", "probe-unwritten", folder() + "/absent.json"});
  const json parsed = json::parse(result.output);
  // No rule found anything to look at.
  CHECK(result.status == 3);
  for (const json& one : parsed["probes"]) {
    INFO(one.dump());
    CHECK(one["status"] == "skipped");
    CHECK(!one["reason"].get<std::string>().empty());
  }
  CHECK(parsed["probes"].size() == 2);
}

}  // namespace opseal::test
