#include "tests/support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>

#include "analyzers/analyzers.h"
#include "cli/reports.h"
#include "rules/rules.h"

namespace fs = std::filesystem;

namespace opseal::test {

fs::path source_dir() { return OPSEAL_SOURCE_DIR; }

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_or_bless(const fs::path& path, const std::string& actual) {
  if (std::getenv("OPSEAL_BLESS") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  INFO("expected file: " << path.string() << " (after reading the difference: ./dev bless)");
  CHECK(read_file(path) == actual);
}

std::vector<std::string> folders_in(const fs::path& path) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Facts read_text(std::string_view manifest) {
  InputFile input;
  input.path = "ops.json";
  input.bytes = manifest;
  input.size = manifest.size();
  return load_file(all_analyzers().front(), std::move(input));
}

Audit audit_paths(const std::vector<std::string>& paths, const std::vector<std::string>& select) {
  Options options;
  options.paths = paths;
  options.select = select;
  options.no_config = true;
  options.no_ignore = true;
  return run_audit(options);
}

Audit diff_paths(const std::string& before, const std::string& after,
                 const std::vector<std::string>& select, const std::string& fail_on) {
  Options options;
  options.command = Command::diff;
  options.paths = {before, after};
  options.select = select;
  options.fail_on = fail_on;
  options.no_config = true;
  options.no_ignore = true;
  return run_diff(options);
}

Facts read_two(std::string_view before, std::string_view after) {
  Facts facts = read_text(before);
  facts.files.front().path = "before.json";
  for (Document& document : facts.documents) document.side = Side::before;
  const std::size_t read = facts.documents.size();
  facts.append(read_text(after));
  facts.files.back().path = "after.json";
  for (std::size_t at = read; at < facts.documents.size(); ++at)
    facts.documents[at].side = Side::after;
  return facts;
}

std::string show(const Counts& counts) {
  std::string out;
  for (const auto& [name, count] : counts) out += name + ' ' + std::to_string(count) + ", ";
  return out;
}

Counts count_findings(const Audit& audit) {
  Counts counts;
  for (const Finding& finding : audit.findings) {
    if (finding.silenced_by.empty())
      ++counts[std::string(finding.rule->id) + ' ' + to_text(finding.severity)];
  }
  return counts;
}

std::string text_report(const Audit& audit) {
  std::ostringstream out;
  write_text(audit, {}, out);
  return out.str();
}

Audit audit_text(std::string_view manifest, const std::vector<const Rule*>& rules) {
  Audit audit;
  audit.facts = read_text(manifest);
  audit.inputs = 1;
  audit.runs = run_rules(rules.empty() ? all_rules() : std::span<const Rule* const>(rules),
                         audit.facts, 1, audit.findings);
  for (Finding& finding : audit.findings) {
    finding.fingerprint = "opseal1:00000000000000000000000000000000";
  }
  return audit;
}

std::string report(const Audit& audit, std::string_view format) {
  std::ostringstream out;
  find_report(format)->write(audit, {}, out);
  return out.str();
}

}  // namespace opseal::test
