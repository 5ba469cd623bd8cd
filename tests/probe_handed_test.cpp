// `opseal probe --import` on the handlers of tests/native/probe/handed.cpp, which no library
// exports: a module of Python hands them out.

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/process.h"

namespace opseal::test {
namespace {

using nlohmann::json;

const std::string& folder() {
  static const std::string path = OPSEAL_PROBE_FOLDER;
  return path;
}

bool has_python() {
  const bool found = run_process({"python3", "-c", "import ctypes"}).status == 0;
  if (!found) std::puts("skipped: there is no python3 with ctypes");
  return found;
}

ProcessResult probe(std::vector<std::string> arguments, const char* form = "json") {
  ::setenv("PYTHONPATH", folder().c_str(), 1);
  std::vector<std::string> command{OPSEAL_BINARY, "probe", "--no-config",
                                   "--no-ignore", "-o",    form};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command);
}

// By identity.
std::map<std::string, json> probes_of(const json& report) {
  std::map<std::string, json> probes;
  for (const json& one : report["probes"]) probes[one["identity"]] = one;
  return probes;
}

std::set<std::string> rules_of(const json& report, const std::string& op) {
  std::set<std::string> rules;
  for (const json& finding : report["findings"]) {
    if (finding["subject"] == op) rules.insert(finding["rule"]);
  }
  return rules;
}

}  // namespace

TEST_CASE("handed out: all that a module hands out is asked what it is, without a manifest") {
  if (!has_python()) return;
  const ProcessResult result = probe({"--import", "handed_ops"});
  INFO(result.errors);
  CHECK(result.status == 0);
  const json report = json::parse(result.output);
  CHECK(report["findings"].empty());
  std::map<std::string, json> probes = probes_of(report);
  for (const char* name :
       {"handed_honest", "handed_liar", "handed_crash", "handed_alone", "handed_in_table"}) {
    INFO(name);
    const std::string identity = std::string("libhanded.so:") + name;
    CHECK(probes[identity + "/metadata"]["status"] == "passed");
    CHECK(probes[identity + "/signature"]["status"] == "passed");
    CHECK(probes[identity + "/signature"]["reason"] == "execute (F32) -> (F32)");
    CHECK(probes[identity + "/call"]["status"] == "skipped");
  }
  // They would end the process.
  json& old = probes["libhanded.so:handed_old/metadata"];
  CHECK(old["status"] == "skipped");
  CHECK(old["reason"].get<std::string>().find("old kind") != std::string::npos);
  json& device = probes["libhanded.so:handed_device/metadata"];
  CHECK(device["status"] == "skipped");
  CHECK(device["reason"] == "needs a device for `CUDA`");
  // Two of them are stages of one handler.
  CHECK(probes["libhanded.so:handed_staged/signature"]["status"] == "passed");
  CHECK(probes["libhanded.so:handed_staged.instantiate/metadata"]["status"] == "passed");
  CHECK(probes.size() == 6 * 3 + 2 + 6);
}

TEST_CASE("handed out: an honest handler passes, and a lie is told by its rule") {
  if (!has_python()) return;
  const ProcessResult result = probe({"--import", "handed_ops", folder() + "/handed.json"});
  INFO(result.errors);
  CHECK(result.status == 1);
  const json report = json::parse(result.output);
  CHECK(rules_of(report, "honest").empty());
  CHECK(rules_of(report, "shut_in").empty());
  CHECK(rules_of(report, "staged").empty());
  CHECK(rules_of(report, "liar") == std::set<std::string>{"probe-unwritten"});
  CHECK(rules_of(report, "crash") == std::set<std::string>{"probe-crash"});
  std::map<std::string, json> probes = probes_of(report);
  for (const char* name :
       {"honest/call/f32,f32/n=3", "honest/call/f32,f32/n=0", "honest/threads",
        "shut_in/call/f32,f32/n=3", "staged/call/f32,f32/n=3", "liar/call/f32,f32/n=0",
        "crash/call/f32,f32/n=3", "crash/call/f32,f32/n=1031"}) {
    INFO(name);
    CHECK(probes[std::string("libhanded.so:handed_") + name]["status"] == "passed");
  }
  CHECK(probes[":handed_nowhere/metadata"]["reason"] ==
        "no module of `--import` hands out `handed_nowhere`");
  CHECK(probes["libhanded.so:handed_crash/call/f32,f32/n=1"]["status"] == "crashed");
  CHECK(probes["libhanded.so:handed_honest/call/f64,f64/n=3"]["status"] == "refused");
  // A module that hands out the name is not the library that is stated.
  CHECK(probes["libother.so:handed_alone/metadata"]["status"] == "skipped");
  CHECK(probes["libhanded.so:handed_alone/metadata"]["status"] == "passed");
}

TEST_CASE("handed out: what can't be imported is said, and so is an interpreter that isn't there") {
  if (!has_python()) return;
  const ProcessResult broken = probe({"--import", "handed_broken"});
  CHECK(broken.status == 4);
  CHECK(broken.output.find("importing handed_broken failed: RuntimeError: no such device\"") !=
        std::string::npos);
  const ProcessResult absent = probe({"--import", "handed_ops", "--python", "/nowhere/python"});
  CHECK(absent.status == 4);
  CHECK(absent.output.find("`/nowhere/python` is no executable file") != std::string::npos);
  const ProcessResult no_interpreter = probe({"--import", "handed_ops", "--python", "/bin/false"});
  CHECK(no_interpreter.status == 4);
  // A module that hands out nothing is no mistake, but nothing was called.
  const ProcessResult nothing = probe({"--import", "json"});
  CHECK(nothing.status == 3);
  CHECK(nothing.output.find("no module of `--import` hands out a handler") != std::string::npos);
}

TEST_CASE("handed out: threads that importing left behind are told of, and nothing else changes") {
  if (!has_python()) return;
  const ProcessResult result = probe({"--import", "handed_threads"}, "text");
  CHECK(result.status == 0);
  CHECK(result.output.find("1 of its threads ran before") != std::string::npos);
  CHECK(probe({"--import", "handed_ops"}, "text").output.find("ran before") == std::string::npos);
}

TEST_CASE("handed out: a process that a module leaves behind is ended") {
  if (!has_python()) return;
  const ProcessResult result = probe({"--import", "handed_leaves"}, "text");
  CHECK(result.status == 0);
  CHECK(result.output.find("that went on by themselves were ended") != std::string::npos);
}

TEST_CASE("handed out: the command that runs a probe again imports the module, too") {
  const ProcessResult printed =
      probe({"--import", "handed_ops", "--python", "python3", "--repro", "some"});
  CHECK(printed.status == 0);
  CHECK(printed.output.find("--import 'handed_ops' --python 'python3'") != std::string::npos);
  CHECK(probe({"--python", "python3"}).status == 2);
}

}  // namespace opseal::test
