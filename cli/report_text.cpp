// For people. One finding:
//
//   ops.json:2:54: error: brainevent::binary_fcnmm: 4 JVP rules for 3 inputs [jvp-arity]
//     | "jvp": {"kind": "per_input", "rules": [null, null, null, null]}
//     |                                       ^~~~~~~~~~~~~~~~~~~~~~~~ rules counted here
//     ops.json:2:38: inputs counted here
//     | ...
//     fix: remove the surplus rule
//
// Silenced findings are counted in the last lines and not shown.

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/framework_rows.h"
#include "cli/places.h"
#include "cli/reports.h"
#include "cli/unjudged.h"
#include "opseal/text.h"
#include "rules/rules.h"

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
  std::string problem(const std::string& text) const { return wrap("1;31", text); }
  std::string mark(const std::string& text) const { return wrap("1;32", text); }

 private:
  std::string wrap(const char* code, const std::string& text) const {
    return on ? std::string("\x1b[") + code + 'm' + text + "\x1b[0m" : text;
  }
};

// Why rules had nothing to say: a rule that looked at nothing did not pass. Few rules are named
// with their reasons, and all of them, one a line, where `each` is set:
//
//   skipped 1 rule: jvp-arity (no input says `jvp`)
//
// Many are counted by the key that no input says, in one line, which ends with the options that
// would have let rules run:
//
//   skipped 13 rules (`-o json` says why for each): 7 need `caches`, 3 need `etp`, 1 needs
//   `architectures`; nothing to look at for name-counter, spec-no-ret; arch-uncovered wants
//   `--arch`
std::string skipped_text(const std::vector<RuleRun>& runs, bool each) {
  constexpr std::size_t few = 2;
  // A registry has the facts of some rules; a list of all the others would hide the rest.
  constexpr std::size_t most_needs = 5;
  constexpr std::size_t most_idle = 8;
  std::vector<std::string> named;
  std::vector<std::string> idle;
  std::vector<std::pair<Key, std::uint64_t>> needs;
  // Rules that only the command line keeps from running.
  std::vector<std::string> unstated;
  for (const RuleRun& run : runs) {
    if (!run.skipped) continue;
    if (run.missing != Key::none && run.missing == run.rule->asked_by) {
      const std::string_view option = option_that_states(run.missing);
      if (!option.empty()) {
        unstated.push_back(std::string(run.rule->id) + " wants " + quote(option));
      }
    }
    named.push_back(std::string(run.rule->id) + " (" + run.reason + ')');
    if (run.missing == Key::none) {
      idle.emplace_back(run.rule->id);
      continue;
    }
    auto need = std::find_if(needs.begin(), needs.end(),
                             [&run](const auto& known) { return known.first == run.missing; });
    if (need == needs.end()) need = needs.insert(needs.end(), {run.missing, 0});
    ++need->second;
  }
  if (named.empty()) return {};
  const std::string head = "skipped " + plural(named.size(), "rule");
  if (each) return head + ":\n  " + join(named, "\n  ") + '\n';
  if (named.size() <= few) return head + ": " + join(named, ", ") + '\n';
  std::stable_sort(needs.begin(), needs.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  std::uint64_t others = 0;
  for (const auto& [key, count] : needs) {
    if (parts.size() == most_needs) {
      others += count;
      continue;
    }
    parts.push_back(std::to_string(count) + (count == 1 ? " needs " : " need ") +
                    quote(to_text(key)));
  }
  if (others > 0) parts.push_back(std::to_string(others) + " need other keys");
  std::string text = head + " (`-o json` says why for each): " + join(parts, ", ");
  if (!idle.empty()) {
    const std::uint64_t more = idle.size() - std::min(idle.size(), most_idle);
    if (more > 0) {
      idle.resize(most_idle);
      idle.push_back(plural(more, "more rule"));
    }
    text += (parts.empty() ? "" : "; ") + ("nothing to look at for " + join(idle, ", "));
  }
  if (!unstated.empty()) text += "; " + join(unstated, ", ");
  return text + '\n';
}

class TextReport {
 public:
  TextReport(const Audit& audit, const ReportStyle& style, std::ostream& out)
      : audit_(audit), out_(out), places_(audit.facts), paint_{style.color} {}

  void write() {
    if (audit_.settings.compares) write_changes(audit_, ReportStyle{paint_.on}, out_);
    for (const Finding& finding : audit_.findings) {
      if (finding.silenced_by.empty()) write_finding(finding);
    }
    write_problems();
    if (audit_.command == "probe") write_probes();
    write_summary();
  }

  void write_problems() {
    for (const Problem& problem : audit_.facts.problems) write_problem(problem);
  }

 private:
  std::string place_text(const Location& where) {
    if (!where.known()) return "opseal";
    std::string text = escape(audit_.facts.files[where.file].path);
    // It is about the whole file: the first line is no more to blame than the last.
    if (where.length == 0 && where.offset == 0) return text;
    const Position position = places_.position(where);
    if (position.line != 0) {
      text += ':' + std::to_string(position.line) + ':' + std::to_string(position.column);
    }
    return text;
  }

  // The line around a place, marked, with a label behind the mark. False when there is no such
  // line to show.
  bool write_excerpt(const Location& where, const std::string& label) {
    if (where.length == 0) return false;
    const Places::Excerpt excerpt = places_.excerpt(where, excerpt_width);
    if (excerpt.text.empty()) return false;
    out_ << "  | " << excerpt.text << '\n';
    out_ << "  | " << std::string(excerpt.caret, ' ')
         << paint_.mark('^' + std::string(excerpt.carets - 1, '~'));
    if (!label.empty()) out_ << ' ' << paint_.mark(escape(label));
    out_ << '\n';
    return true;
  }

  void write_finding(const Finding& finding) {
    out_ << paint_.bold(place_text(finding.evidence.where)) << ": "
         << paint_.severity(finding.severity) << ": " << escape(finding.subject) << ": "
         << escape(finding.message) << ' '
         << paint_.faint('[' + std::string(finding.rule->id) + ']') << '\n';
    const Evidence& evidence = finding.evidence;
    if (!write_excerpt(evidence.where, evidence.label) && !evidence.label.empty()) {
      out_ << "  " << escape(evidence.label) << '\n';
    }
    for (const Evidence& other : finding.related) {
      out_ << "  " << place_text(other.where) << ": " << escape(other.label) << '\n';
      write_excerpt(other.where, {});
    }
    out_ << "  fix: " << escape(finding.fix.empty() ? finding.rule->fix : finding.fix) << "\n\n";
  }

  void write_problem(const Problem& problem) {
    const bool remark = problem.severity == Severity::note;
    out_ << paint_.bold(place_text(problem.where)) << ": "
         << (remark ? paint_.severity(problem.severity) : paint_.problem("problem")) << ": "
         << escape(problem.message) << '\n';
    write_excerpt(problem.where, {});
    if (problem.related.known())
      out_ << "  " << place_text(problem.related) << ": the first one is here\n";
    out_ << '\n';
  }

  void write_summary() {
    const auto ran = std::count_if(audit_.runs.begin(), audit_.runs.end(),
                                   [](const RuleRun& run) { return !run.skipped; });
    out_ << (audit_.settings.compares ? "compared " : "checked ") << plural(audit_.inputs, "input")
         << " (" << content_text() << ") with " << plural(static_cast<std::uint64_t>(ran), "rule")
         << ": " << plural(audit_.counts.errors, "error") << ", "
         << plural(audit_.counts.warnings, "warning") << ", "
         << plural(audit_.counts.notes, "note");
    if (audit_.suppressed > 0) out_ << ", " << audit_.suppressed << " suppressed";
    if (audit_.baselined > 0) out_ << ", " << audit_.baselined << " in the baseline";
    if (problems() > 0) out_ << ", " << plural(problems(), "problem");
    out_ << '\n';
    // Of a profile's rules most are about other inputs, and the verdict names those that count.
    const bool names_each = audit_.settings.strict && !audit_.settings.select.empty();
    if (audit_.inputs > 0) out_ << skipped_text(audit_.runs, names_each);
    if (audit_.other_files > 0) {
      out_ << "not looked at: " << plural(audit_.other_files, "file")
           << " of no kind that opseal reads\n";
    }
    if (audit_.excluded_files > 0) {
      out_ << "not looked at: " << plural(audit_.excluded_files, "file") << " by `exclude`\n";
    }
    write_verdict();
  }

  // How the probes went, and why some were not made: a skipped one has not passed.
  void write_probes() {
    std::map<std::string_view, std::uint64_t> statuses;
    std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> reasons;
    for (const Document& document : audit_.facts.documents) {
      if (!document.settings) continue;
      for (const Fact probe : audit_.facts.root(document)[Key::probes].items()) {
        const bool declared = probe[Key::declared].truth(true);
        const std::string_view status = probe[Key::status].text();
        // As it has to be.
        ++statuses[!declared && status == "refused" ? "undeclared" : status];
        const bool untold = status == "skipped" || (declared && status == "refused");
        if (untold) ++reasons[{status, probe[Key::reason].text("no reason")}];
      }
    }
    if (audit_.probes == 0) {
      const auto& given = audit_.arguments;
      const bool asks_framework = std::ranges::any_of(
          given, [](const std::string& one) { return one.starts_with("--framework"); });
      out_ << (asks_framework
                   ? "nothing to ask: `--only` names no check of the framework and no operator\n"
                   : "nothing to call: no library here has a handler of XLA's FFI, no manifest "
                     "names symbol and library of a kernel, no module of `--import` hands one out, "
                     "or `--only` names no probe\n");
      return;
    }
    out_ << plural(audit_.probes, "probe") << " of what can be called";
    const char* separator = ": ";
    for (const auto& [status, word] :
         {std::pair<std::string_view, std::string_view>{"passed", " passed"},
          {"differs", " with something wrong"},
          {"undeclared", " refused as not declared"},
          {"refused", " refused"},
          {"crashed", " ended their process"},
          {"timed_out", " without an end"},
          {"no_answer", " without an answer"},
          {"skipped", " skipped"}}) {
      if (statuses[status] == 0) continue;
      out_ << separator << statuses[status] << word;
      separator = ", ";
    }
    out_ << '\n';
    if (audit_.refuted > 0) {
      out_ << "  " << plural(audit_.refuted, "finding") << " of reading refuted, and dropped\n";
    }
    constexpr std::size_t most_reasons = 12;
    std::size_t told = 0;
    for (const auto& [why, count] : reasons) {
      if (told++ == most_reasons) {
        out_ << "  and " << plural(reasons.size() - most_reasons, "further reason") << '\n';
        break;
      }
      out_ << "  " << count << ' ' << why.first << ": " << escape(why.second) << '\n';
    }
    write_framework_rows(audit_.facts, out_);
    for (const std::string& lack : audit_.sandbox_lacks) {
      out_ << "sandbox: " << escape(lack) << '\n';
    }
  }

  std::string content_text() const {
    std::string text;
    if (audit_.bound_functions > 0) text = plural(audit_.bound_functions, "function");
    if (audit_.operators > 0 || (text.empty() && audit_.libraries == 0)) {
      text = plural(audit_.operators, "operator") + (text.empty() ? "" : ", ") + text;
    }
    if (audit_.libraries == 0) return text;
    if (!text.empty()) text += ", ";
    return text + plural(audit_.libraries, "library", "libraries");
  }

  // Why a run without findings is no clean one.
  void write_verdict() {
    if (audit_.exit_code == exit_code::nothing && audit_.command == "probe" && audit_.inputs > 0) {
      out_ << "nothing probed: no call came to an end that says anything\n";
    } else if (audit_.exit_code == exit_code::nothing) {
      out_ << (audit_.inputs == 0
                   ? "nothing to check: found no input; of what git ignores only files and "
                     "directories given by name are read (`--no-ignore` reads all)\n"
               : audit_.settings.compares
                   ? std::string("nothing to compare: one side has no input\n")
               : audit_.libraries > 0
                   ? "nothing to check: " + unjudged_libraries_text(audit_.facts) + '\n'
                   : "nothing to check: no rule found anything to look at\n");
    } else if (!audit_.complete) {
      out_ << (problems() > 0 ? "incomplete: not everything could be read\n"
                              : "incomplete: under `--strict` what was asked for must have "
                                "something to look at: " +
                                    join(audit_.unheard, ", ") + '\n');
    }
  }

  std::uint64_t problems() const {
    return static_cast<std::uint64_t>(
        std::count_if(audit_.facts.problems.begin(), audit_.facts.problems.end(),
                      [](const Problem& problem) { return problem.severity != Severity::note; }));
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

void write_problems(const Audit& audit, const ReportStyle& style, std::ostream& out) {
  TextReport(audit, style, out).write_problems();
}

}  // namespace opseal
