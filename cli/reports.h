#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "cli/audit.h"

namespace opseal {

struct ReportStyle {
  bool color = false;
};

// One format in which an audit can be written.
struct Report {
  std::string_view name;
  std::string_view description;
  void (*write)(const Audit& audit, const ReportStyle& style, std::ostream& out) = nullptr;
};

std::span<const Report> all_reports();
const Report* find_report(std::string_view name);
// The message for a name that is none.
std::string unknown_report(std::string_view name);

void write_text(const Audit& audit, const ReportStyle& style, std::ostream& out);
void write_json(const Audit& audit, const ReportStyle& style, std::ostream& out);
void write_jsonl(const Audit& audit, const ReportStyle& style, std::ostream& out);
void write_sarif(const Audit& audit, const ReportStyle& style, std::ostream& out);

// The part of the text report that tells what changed between two dumps.
void write_changes(const Audit& audit, const ReportStyle& style, std::ostream& out);

// The part of the text report that tells what could not be read.
void write_problems(const Audit& audit, const ReportStyle& style, std::ostream& out);

}  // namespace opseal
