// What holds of every rule's words, and of every run.

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rules.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

// A message begins in lower case, or with a word in capitals (`JVP`), and has no full stop.
std::string wrong_phrase(std::string_view text) {
  if (text.empty()) return "empty";
  const bool upper = std::isupper(static_cast<unsigned char>(text[0])) != 0;
  const bool acronym =
      text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) == 0 && text[1] != ' ';
  if (upper && !acronym) return "begins with a capital";
  if (text.back() == '.' || text.back() == ' ' || text.back() == '\n')
    return "ends with a full stop or space";
  if (text.find("  ") != text.npos || text.find('\n') != text.npos)
    return "has two spaces or a line break";
  return "";
}

std::string wrong_sentences(std::string_view text) {
  if (text.size() < 60) return "shorter than 60 characters";
  // Packages keep their spelling.
  const bool package = text.starts_with("braintrace ") || text.starts_with("brainevent ");
  if (!package && std::islower(static_cast<unsigned char>(text[0])) != 0) {
    return "begins in lower case";
  }
  if (text.back() != '.') return "has no final full stop";
  if (text.find("  ") != text.npos) return "has two spaces";
  return "";
}

// The example as a manifest: it is one, or it is an element of one of the lists, which its keys
// tell.
std::vector<std::string> manifests_of(std::string_view example) {
  const std::string item(example);
  if (item.find("\"opseal_manifest\"") != item.npos) return {item};
  std::vector<std::string> manifests;
  for (const char* list : {"operators", "targets", "caches", "dispatch", "libraries"}) {
    manifests.push_back(R"({"opseal_manifest": 1, "system": "engine", ")" + std::string(list) +
                        "\": [" + item + "]}");
  }
  return manifests;
}

// The example of a rule that compares is both dumps; a list is two manifests given together.
Facts facts_of(const Rule& rule, const std::string& example) {
  if (example.starts_with('[')) {
    const nlohmann::json manifests = nlohmann::json::parse(example);
    return read_two(manifests.at(0).dump(), manifests.at(1).dump());
  }
  if (!rule.two_dumps) return read_text(example);
  const nlohmann::json dumps = nlohmann::json::parse(example);
  return read_two(dumps.at("before").dump(), dumps.at("after").dump());
}

bool fires(const Rule& rule, const std::string& manifest) {
  const Facts facts = facts_of(rule, manifest);
  if (!facts.problems.empty()) return false;
  std::vector<Finding> findings;
  return run_rule(rule, facts, findings).inspected > 0 && !findings.empty();
}

std::string report_of(const std::vector<std::string>& paths, unsigned threads) {
  Options options;
  options.paths = paths;
  options.profile = "audit";
  options.no_config = true;
  options.no_ignore = true;
  options.threads = threads;
  return text_report(run_audit(options));
}

}  // namespace

TEST_CASE("each rule has its words in the style of the house") {
  REQUIRE(!all_rules().empty());
  for (const Rule* rule : all_rules()) {
    INFO(std::string(rule->id));
    CHECK(wrong_phrase(rule->title) == "");
    CHECK(wrong_phrase(rule->fix) == "");
    CHECK(wrong_phrase(rule->inspects) == "");
    CHECK(wrong_sentences(rule->rationale) == "");
    CHECK(!rule->since.empty());
    CHECK((rule->check != nullptr));
  }
}

TEST_CASE("wrong words are noticed") {
  CHECK(wrong_phrase("") != "");
  CHECK(wrong_phrase("Number of rules") != "");
  CHECK(wrong_phrase("number of rules.") != "");
  CHECK(wrong_phrase("JVP rule without an input") == "");
  CHECK(wrong_sentences("Too short.") != "");
  CHECK(wrong_sentences(std::string(80, 'A')) != "");
}

TEST_CASE("the example of each rule is the smallest thing that it finds") {
  for (const Rule* rule : all_rules()) {
    INFO(std::string(rule->id) << ": " << std::string(rule->example));
    const std::vector<std::string> manifests = manifests_of(rule->example);
    CHECK(std::any_of(manifests.begin(), manifests.end(),
                      [rule](const std::string& manifest) { return fires(*rule, manifest); }));
  }
}

TEST_CASE("a report depends neither on the order of the paths nor on the number of threads") {
  fs::current_path(source_dir());
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator("fixtures/_whole")) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  for (const char* rule :
       {"jvp-arity", "dtype-gap", "target-duplicate", "name-duplicate", "cache-entry-broken"}) {
    paths.push_back("fixtures/" + std::string(rule));
  }
  for (const char* name : {"cut", "equal_keys", "not_a_number"}) {
    paths.push_back("fixtures/_damaged/" + std::string(name) + ".json");
  }
  std::sort(paths.begin(), paths.end());
  const std::string report = report_of(paths, 1);
  CHECK(report.size() > 1000);
  for (const unsigned threads : {1u, 2u, 4u, 16u}) {
    std::vector<std::string> reversed(paths.rbegin(), paths.rend());
    const bool backwards = report_of(reversed, threads) == report;
    CHECK(backwards);
    std::rotate(reversed.begin(), reversed.begin() + static_cast<long>(paths.size() / 3),
                reversed.end());
    // Twice the same path is the same input.
    reversed.push_back(paths.front());
    const bool rotated = report_of(reversed, threads) == report;
    CHECK(rotated);
  }
}

}  // namespace opseal::test
