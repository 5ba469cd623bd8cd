// For people. One finding:
//
//   ops.json:2:54: error: 4 JVP rules for 3 inputs [jvp-arity]
//     |  "jvp": {"kind": "per_input", "rules": [null, null, null, null]}
//     |                                         ^~~~~~~~~~~~~~~~~~~~~~~~
//     about: brainevent::binary_fcnmm
//   ops.json:2:38: inputs counted here
//     |  ...
//     fix: remove the surplus rule

#include <ostream>
#include <string>

#include "cli/places.h"
#include "cli/reports.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t excerpt_width = 100;

struct Paint {
  bool on = false;

  std::string bold(const std::string& text) const { return wrap("1", text); }
  std::string faint(const std::string& text) const { return wrap("2", text); }
  std::string severity(Severity severity) const {
    switch (severity) {
      case Severity::error:
        return wrap("1;31", to_text(severity));
      case Severity::warning:
        return wrap("1;35", to_text(severity));
      case Severity::note:
        return wrap("1;36", to_text(severity));
    }
    return "";
  }
  std::string mark(const std::string& text) const { return wrap("1;32", text); }

 private:
  std::string wrap(const char* code, const std::string& text) const {
    return on ? std::string("\x1b[") + code + 'm' + text + "\x1b[0m" : text;
  }
};

class TextReport {
 public:
  TextReport(const Audit& audit, const ReportStyle& style, std::ostream& out)
      : audit_(audit), out_(out), places_(audit.facts), paint_{style.color} {}

  void write() {
    for (const Finding& finding : audit_.findings) {
      if (finding.silenced_by.empty()) write_finding(finding);
    }
    for (const Problem& problem : audit_.facts.problems) write_problem(problem);
    write_summary();
  }

 private:
  std::string place_text(const Location& where) {
    if (!where.known()) return "opseal";
    std::string text = audit_.facts.files[where.file].path;
    const Position position = places_.position(where);
    if (position.line != 0) {
      text += ':' + std::to_string(position.line) + ':' + std::to_string(position.column);
    }
    return text;
  }

  void write_excerpt(const Location& where) {
    if (where.length == 0) return;
    const Places::Excerpt excerpt = places_.excerpt(where, excerpt_width);
    if (excerpt.text.empty()) return;
    out_ << "  | " << excerpt.text << '\n';
    out_ << "  | " << std::string(excerpt.caret, ' ')
         << paint_.mark('^' + std::string(excerpt.carets - 1, '~')) << '\n';
  }

  void write_finding(const Finding& finding) {
    out_ << paint_.bold(place_text(finding.evidence.where)) << ": "
         << paint_.severity(finding.severity) << ": " << finding.subject << ": " << finding.message
         << ' ' << paint_.faint('[' + std::string(finding.rule->id) + ']') << '\n';
    write_evidence(finding.evidence, false);
    for (const Evidence& other : finding.related) write_evidence(other, true);
    out_ << "  fix: " << (finding.fix.empty() ? finding.rule->fix : finding.fix) << "\n\n";
  }

  void write_evidence(const Evidence& evidence, bool with_place) {
    if (with_place) out_ << "  " << place_text(evidence.where) << ": " << evidence.label << '\n';
    write_excerpt(evidence.where);
    if (!with_place && !evidence.label.empty()) out_ << "  " << evidence.label << '\n';
  }

  void write_problem(const Problem& problem) {
    const bool remark = problem.severity == Severity::note;
    out_ << paint_.bold(place_text(problem.where)) << ": " << paint_.severity(problem.severity)
         << (remark ? ": " : ": not read: ") << problem.message << '\n';
    write_excerpt(problem.where);
    if (problem.related.known())
      out_ << "  " << place_text(problem.related) << ": the first one is here\n";
    out_ << '\n';
  }

  // One line on what was checked, one on what was not.
  void write_summary() {
    std::uint64_t ran = 0;
    std::vector<std::string> skipped;
    for (const RuleRun& run : audit_.runs) {
      if (run.skipped) {
        skipped.emplace_back(run.rule->id);
      } else {
        ++ran;
      }
    }
    out_ << "checked " << plural(audit_.inputs, "input") << " ("
         << plural(audit_.operators, "operator") << ") with " << plural(ran, "rule") << ": "
         << plural(audit_.counts.errors, "error") << ", "
         << plural(audit_.counts.warnings, "warning") << ", "
         << plural(audit_.counts.notes, "note");
    if (audit_.suppressed + audit_.baselined > 0) {
      out_ << ", " << audit_.suppressed + audit_.baselined << " silenced";
    }
    if (!audit_.facts.problems.empty())
      out_ << ", " << plural(audit_.facts.problems.size(), "problem");
    out_ << '\n';
  }

  const Audit& audit_;
  std::ostream& out_;
  Places places_;
  Paint paint_;
};

}  // namespace

void write_text(const Audit& audit, const ReportStyle& style, std::ostream& out) {
  TextReport(audit, style, out).write();
}

}  // namespace opseal
