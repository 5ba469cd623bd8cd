// Every fixture input cut and with single bits flipped. Whatever is left of it ends as findings, as
// a clean run or as a problem, in reasonable time. CTest runs each fixture as a test of its own.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/text.h"
#include "rules/rules.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

// Bytes; up to here every byte is tried, and the whole program is asked each time.
constexpr std::size_t small_file = 16 * 1024;
constexpr std::size_t header = 4 * 1024;
constexpr std::size_t random_places = 2000;

std::vector<std::size_t> places_to_damage(std::size_t size) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < (size <= small_file ? size : header); ++at) places.push_back(at);
  std::mt19937 random(1);
  if (size > small_file) {
    for (std::size_t i = 0; i < random_places; ++i) places.push_back(random() % size);
  }
  return places;
}

// What must hold of any bytes; empty, or what doesn't.
std::string broken_promise(std::string_view bytes, const Audit& audit) {
  const auto inside = [&](const Location& where) {
    return !where.known() || (where.file == 0 && where.offset + where.length <= bytes.size());
  };
  for (const Problem& problem : audit.facts.problems) {
    if (problem.message.empty()) return "a problem without a message";
    if (!inside(problem.where) || !inside(problem.related)) return "a problem outside the file";
  }
  for (const Finding& finding : audit.findings) {
    if (!inside(finding.evidence.where)) return "a finding outside the file";
    for (const Evidence& other : finding.related) {
      if (!inside(other.where)) return "related evidence outside the file";
    }
  }
  if (audit.facts.documents.empty() != audit.facts.nodes.empty()) return "facts of no document";
  if (audit.facts.documents.empty() && audit.facts.problems.empty()) return "silence";
  if (bytes.size() > small_file) return "";
  if (audit.facts.problems.empty() && !nlohmann::json::accept(bytes)) return "read what is no JSON";
  if (text_report(audit).empty()) return "no report";
  return "";
}

void damage(const fs::path& path) {
  const std::string whole = read_file(path);
  // Whatever is cut off behind the last brace is white space.
  const std::size_t last_brace = whole.rfind('}');
  const std::vector<std::size_t> places = places_to_damage(whole.size());
  CHECK(!places.empty());
  for (const std::size_t at : places) {
    const std::string_view cut = std::string_view(whole).substr(0, at);
    const Audit of_cut = audit_text(cut);
    std::string broken = broken_promise(cut, of_cut);
    if (broken.empty() && at <= last_brace && of_cut.facts.problems.empty()) {
      broken = "no problem in a part of a manifest";
    }
    if (!broken.empty()) FAIL_CHECK("cut at byte " << at << ": " << broken);

    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at * 5 % 8)));
    broken = broken_promise(flipped, audit_text(flipped));
    if (!broken.empty()) FAIL_CHECK("flip at byte " << at << ": " << broken);
  }
}

bool is_input(const fs::path& path) { return path.extension() == ".json"; }

std::vector<fs::path> inputs_below(const fs::path& folder) {
  std::vector<fs::path> inputs;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && is_input(entry.path())) inputs.push_back(entry.path());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

}  // namespace

TEST_CASE("damage") {
  for (const std::string& folder : folders_in(source_dir() / "fixtures")) {
    if (folder == "_damaged") continue;
    const bool together = !folder.starts_with("_");
    const std::vector<fs::path> inputs = inputs_below(source_dir() / "fixtures" / folder);
    if (together) {
      SUBCASE(folder.c_str()) {
        for (const fs::path& input : inputs) {
          INFO(input.string());
          damage(input);
        }
      }
      continue;
    }
    // Recorded registries are large: one by one.
    for (const fs::path& input : inputs) {
      SUBCASE((folder + '/' + input.filename().string()).c_str()) { damage(input); }
    }
  }
}

TEST_CASE("a name can't drive the terminal that shows the report") {
  const Audit audit = audit_text(
      R"({"opseal_manifest": 1, "operators": [{"name": "mv\u001b[2J\n\u009b\u202e", "inputs": 1,
          "location": {"file": "a\u0007.py"}, "jvp": {"kind": "per_input", "rules": []}}]})");
  REQUIRE(!audit.findings.empty());
  const std::string text = text_report(audit);
  CHECK(text.find("mv\\x1b[2J\\x0a\\xc2\\x9b\\xe2\\x80\\xae") != text.npos);
  CHECK(text.find("a\\x07.py") != text.npos);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool follows = (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
    CHECK((follows || text[at] == '\n' || printable_length(text, at) > 0));
  }
}

TEST_CASE("hostile inputs end as problems") {
  fs::current_path(source_dir());
  std::string report;
  for (const fs::path& path : inputs_below("fixtures/_damaged")) {
    INFO(path.string());
    const Audit audit = audit_paths({path.string()}, {"jvp-arity"});
    CHECK(audit.exit_code == exit_code::incomplete);
    CHECK(!audit.facts.problems.empty());
    CHECK(audit.findings.empty());
    const std::string text = text_report(audit);
    report += "== " + path.filename().string() + "\n" + text + "\n";
  }
  check_or_bless(source_dir() / "fixtures/_damaged/expected.txt", report);
}

}  // namespace opseal::test
