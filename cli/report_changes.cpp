// Changes for people. What happened to several operators in the same way is one line:
//
//   breaking, asks for a major version:
//     takes 3 inputs, before 4: callers that pass the old number fail
//       `brainevent::jits_csr_count` (a.json:12:30 -> b.json:12:30)

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/places.h"
#include "cli/reports.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Changes that share a line.
using Line = std::vector<const Change*>;

constexpr std::size_t named = 6;

class ChangeReport {
 public:
  ChangeReport(const Audit& audit, const ReportStyle& style, std::ostream& out)
      : audit_(audit), style_(style), out_(out), places_(audit.facts) {}

  void write() {
    write_systems();
    for (const Impact impact :
         {Impact::breaking, Impact::numerics, Impact::speed, Impact::additive}) {
      for (const Bump bump : {Bump::major, Bump::minor, Bump::patch}) write_block(impact, bump);
    }
    write_summary();
  }

 private:
  void write_systems() {
    const Changes& changes = audit_.changes;
    const auto text = [](const std::vector<std::string>& systems) {
      return systems.empty() ? std::string("none") : quote_list(systems);
    };
    if (changes.systems_before.empty() && changes.systems_after.empty()) return;
    out_ << "other systems: " << text(changes.systems_after) << ", before "
         << text(changes.systems_before)
         << "; what is of them has no counterpart in the other dump\n\n";
  }

  void write_block(Impact impact, Bump bump) {
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> seen;
    std::vector<Line> lines;
    std::size_t changes = 0;
    for (const Change& change : audit_.changes.list) {
      if (change.impact != impact || change.bump != bump || change.silenced()) continue;
      ++changes;
      const auto [place, fresh] = seen.try_emplace({change.message, change.meaning}, lines.size());
      if (fresh) lines.emplace_back();
      lines[place->second].push_back(&change);
    }
    if (lines.empty()) return;
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return a.size() > b.size(); });
    const std::string head = std::string(to_text(impact)) + ", asks for a " + to_text(bump) +
                             " version: " + plural(changes, "change");
    out_ << (style_.color ? "\x1b[1m" + head + "\x1b[0m" : head) << '\n';
    for (const Line& line : lines) write_line(line);
    out_ << '\n';
  }

  void write_line(const Line& line) {
    const Change& first = *line.front();
    out_ << "  " << escape(first.message) << ": " << first.meaning << "\n    ";
    if (line.size() > 1) out_ << line.size() << " times: ";
    std::vector<std::string> subjects;
    for (const Change* change : line) subjects.push_back(change->subject);
    out_ << quote_list(subjects, named) << " (";
    if (line.size() > 1) out_ << "the first: ";
    write_places(first);
    out_ << ")\n";
  }

  void write_places(const Change& change) {
    out_ << place_text(change.before);
    if (change.before.known() && change.after.known()) out_ << " -> ";
    out_ << place_text(change.after);
  }

  std::string place_text(const Location& where) {
    if (!where.known()) return {};
    const Position position = places_.position(where);
    const std::string path = escape(audit_.facts.files[where.file].path);
    if (position.line == 0) return path;
    return path + ':' + std::to_string(position.line) + ':' + std::to_string(position.column);
  }

  void write_summary() {
    const Changes& changes = audit_.changes;
    std::map<Impact, std::uint64_t> counts;
    Bump bump = Bump::patch;
    std::uint64_t number = 0;
    for (const Change& change : changes.list) {
      if (change.silenced()) continue;
      ++number;
      ++counts[change.impact];
      bump = std::max(bump, change.bump);
    }
    out_ << plural(number, "change") << ": " << counts[Impact::breaking] << " breaking, "
         << counts[Impact::numerics] << " numerics, " << counts[Impact::speed] << " speed, "
         << counts[Impact::additive] << " additive";
    if (number > 0) out_ << "; asks for a " << to_text(bump) << " version";
    out_ << '\n';
    std::vector<std::string> unsaid;
    for (const auto& [key, times] : changes.unsaid) {
      unsaid.push_back(std::to_string(times) + ' ' + quote(key));
    }
    if (!unsaid.empty())
      out_ << "no change, since only one dump says them: " << join(unsaid, ", ") << '\n';
    if (changes.unpaired > 0) {
      out_ << "not compared, since one dump doesn't say the whole list: "
           << plural(changes.unpaired, "operator or target", "operators or targets") << '\n';
    }
    out_ << '\n';
  }

  const Audit& audit_;
  const ReportStyle& style_;
  std::ostream& out_;
  Places places_;
};

}  // namespace

void write_changes(const Audit& audit, const ReportStyle& style, std::ostream& out) {
  ChangeReport(audit, style, out).write();
}

}  // namespace opseal
