#include "cli/reports.h"

#include <vector>

#include "opseal/text.h"

namespace opseal {
namespace {

constexpr Report reports[] = {
    {"text", "for people: place, excerpt, both sites, advice", write_text},
    {"json", "everything, as one document (`opseal schema report`)", write_json},
    {"jsonl", "each finding as one line of JSON", write_jsonl},
    {"sarif", "SARIF 2.1.0, for code scanning", write_sarif},
};

}  // namespace

std::span<const Report> all_reports() { return reports; }

const Report* find_report(std::string_view name) {
  for (const Report& report : reports) {
    if (report.name == name) return &report;
  }
  return nullptr;
}

std::string unknown_report(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Report& report : reports) names.push_back(report.name);
  return "no report format " + quote(name) + did_you_mean(name, names);
}

}  // namespace opseal
