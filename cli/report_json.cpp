// The report, version 1, as docs/formats.md fixes it; `opseal schema report` prints its schema.
//
// The document is written piece by piece, one finding a line: a tree of a hundred thousand findings
// would take more memory than the facts, and lines are what a diff compares.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "cli/json_text.h"
#include "cli/place_names.h"
#include "cli/places.h"
#include "cli/reports.h"
#include "cli/tiers.h"
#include "cli/version.h"

namespace opseal {
namespace {

using nlohmann::ordered_json;

const char* to_text(Tier tier) {
  switch (tier) {
    case Tier::manifest:
      return "manifest";
    case Tier::lexed:
      return "lexed";
    case Tier::typed:
      return "typed";
    case Tier::bytes:
      return "bytes";
    case Tier::trace:
      return "trace";
    case Tier::probe:
      return "probe";
  }
  return "";
}

// Who was heard: what was handed to a framework, what a file holds, or what ran.
const char* witness_of(Tier tier) {
  switch (tier) {
    case Tier::manifest:
    case Tier::lexed:
    case Tier::typed:
      return "registered";
    case Tier::bytes:
      return "shipped";
    case Tier::trace:
    case Tier::probe:
      return "observed";
  }
  return "";
}

// A fact as a manifest says it.
ordered_json fact_json(const Fact& fact) {
  if (fact.is_text()) return std::string(fact.text());
  if (fact.is_truth()) return fact.truth();
  if (fact.is_count()) return fact.count();
  if (fact.is_number()) return fact.number();
  if (fact.is_list()) {
    ordered_json list = ordered_json::array();
    for (const Fact item : fact.items()) list.push_back(fact_json(item));
    return list;
  }
  if (!fact.is_object()) return nullptr;
  ordered_json object = ordered_json::object();
  for (const Fact member : fact.items())
    object[std::string(to_text(member.key()))] = fact_json(member);
  return object;
}

class JsonReport {
 public:
  JsonReport(const Audit& audit, std::ostream& out)
      : audit_(audit),
        out_(out),
        places_(audit.facts),
        place_names_(audit.facts),
        tiers_(audit.facts) {}

  void write() {
    out_ << "{\"opseal_report\": 1,\n";
    member("tool", {{"name", "opseal"}, {"version", version_text}});
    member("run", run());
    member("summary", summary());
    list("findings", audit_.findings, [this](const Finding& finding) { return entry(finding); });
    if (audit_.settings.compares) {
      list("changes", audit_.changes.list, [this](const Change& change) { return entry(change); });
    }
    list("problems", audit_.facts.problems,
         [this](const Problem& problem) { return entry(problem); });
    list("rules", audit_.runs, [](const RuleRun& run) { return entry(run); });
    out_ << "\"probes\": [";
    const char* separator = "\n";
    for (const Document& document : audit_.facts.documents) {
      if (!document.settings || audit_.probes == 0) continue;
      for (const Fact probe : audit_.facts.root(document)[Key::probes].items()) {
        out_ << separator << json_text(fact_json(probe));
        separator = ",\n";
      }
    }
    out_ << "]}\n";
  }

  void write_lines() {
    for (const Finding& finding : audit_.findings) out_ << json_text(entry(finding)) << '\n';
  }

 private:
  void member(const char* name, const ordered_json& value) {
    out_ << '"' << name << "\": " << json_text(value) << ",\n";
  }

  template <typename Items, typename Make>
  void list(const char* name, const Items& items, Make make) {
    out_ << '"' << name << "\": [";
    const char* separator = "\n";
    for (const auto& item : items) {
      out_ << separator << json_text(make(item));
      separator = ",\n";
    }
    out_ << "],\n";
  }

  ordered_json run() const {
    std::vector<std::string> arguments = audit_.arguments;
    const std::string& command = audit_.command;
    if (!arguments.empty() && arguments.front() == command) arguments.erase(arguments.begin());
    return {{"command", command},
            {"arguments", arguments},
            {"exit_code", audit_.exit_code},
            {"complete", audit_.complete}};
  }

  ordered_json change_counts() const {
    ordered_json counts = {{"breaking", 0}, {"numerics", 0}, {"speed", 0}, {"additive", 0}};
    Bump bump = Bump::patch;
    bool any = false;
    for (const Change& change : audit_.changes.list) {
      if (change.silenced()) continue;
      any = true;
      ordered_json& count = counts[opseal::to_text(change.impact)];
      count = count.get<std::uint64_t>() + 1;
      bump = std::max(bump, change.bump);
    }
    counts["bump"] = any ? ordered_json(opseal::to_text(bump)) : ordered_json();
    counts["unpaired"] = audit_.changes.unpaired;
    ordered_json unsaid = ordered_json::object();
    for (const auto& [key, number] : audit_.changes.unsaid) unsaid[std::string(key)] = number;
    counts["unsaid"] = std::move(unsaid);
    counts["systems_before"] = audit_.changes.systems_before;
    counts["systems_after"] = audit_.changes.systems_after;
    return counts;
  }

  ordered_json summary() const {
    ordered_json summary = {{"inputs", audit_.inputs},           {"operators", audit_.operators},
                            {"libraries", audit_.libraries},     {"error", audit_.counts.errors},
                            {"warning", audit_.counts.warnings}, {"note", audit_.counts.notes},
                            {"suppressed", audit_.suppressed},   {"baselined", audit_.baselined},
                            {"other_files", audit_.other_files}};
    if (audit_.settings.compares) summary["changes"] = change_counts();
    if (audit_.command == "probe") summary["refuted"] = audit_.refuted;
    return summary;
  }

  ordered_json place(const Location& where) {
    ordered_json place = ordered_json::object();
    if (!where.known()) return place;
    place["path"] = audit_.facts.files[where.file].path;
    // The whole file.
    if (where.offset == 0 && where.length == 0) return place;
    const Position position = places_.position(where);
    if (position.line != 0) {
      place["line"] = position.line;
      place["column"] = position.column;
      place["end_line"] = position.end_line;
      place["end_column"] = position.end_column;
    }
    place["offset"] = where.offset;
    place["length"] = where.length;
    const std::string pointer = place_names_.logical(where);
    if (!pointer.empty()) place["logical"] = pointer;
    return place;
  }

  ordered_json labelled(const Location& where, std::string_view label) {
    return {{"label", label}, {"location", place(where)}};
  }

  ordered_json entry(const Finding& finding) {
    const Rule& rule = *finding.rule;
    const Tier tier = tiers_.of(finding);
    ordered_json related = ordered_json::array();
    for (const Evidence& other : finding.related) {
      related.push_back(labelled(other.where, other.label));
    }
    ordered_json entry = {
        {"rule", rule.id},
        {"severity", opseal::to_text(finding.severity)},
        {"subject", finding.subject},
        {"message", finding.message},
        {"location", place(finding.evidence.where)},
        {"label", finding.evidence.label},
        {"related", std::move(related)},
        {"fix", finding.fix.empty() ? std::string(rule.fix) : finding.fix},
        {"witnesses", ordered_json::array({witness_of(tier)})},
        {"tier", to_text(tier)},
        {"confirmed",
         finding.confirmed || tier == Tier::probe ? ordered_json(true) : ordered_json()},
        {"fingerprint", finding.fingerprint}};
    if (!finding.silenced_by.empty()) {
      entry["silenced"] = {{"by", finding.silenced_by}, {"reason", finding.silenced_reason}};
    }
    return entry;
  }

  ordered_json entry(const Change& change) {
    ordered_json entry = {{"kind", change.kind},
                          {"impact", opseal::to_text(change.impact)},
                          {"bump", opseal::to_text(change.bump)},
                          {"subject", change.subject},
                          {"message", change.message},
                          {"meaning", change.meaning},
                          {"before", place(change.before)},
                          {"after", place(change.after)}};
    if (change.silenced())
      entry["silenced"] = {{"by", "config"}, {"reason", change.silenced_reason}};
    return entry;
  }

  ordered_json entry(const Problem& problem) {
    ordered_json related = ordered_json::array();
    if (problem.related.known()) {
      related.push_back(labelled(problem.related, "the first one is here"));
    }
    return {{"severity", opseal::to_text(problem.severity)},
            {"message", problem.message},
            {"location", place(problem.where)},
            {"related", std::move(related)}};
  }

  static ordered_json entry(const RuleRun& run) {
    return {{"rule", run.rule->id},
            {"state", run.skipped ? "skipped" : "ran"},
            {"inspected", run.inspected},
            {"findings", run.findings},
            {"reason", run.skipped ? ordered_json(run.reason) : ordered_json()}};
  }

  const Audit& audit_;
  std::ostream& out_;
  Places places_;
  PlaceNames place_names_;
  Tiers tiers_;
};

}  // namespace

void write_json(const Audit& audit, const ReportStyle&, std::ostream& out) {
  JsonReport(audit, out).write();
}

void write_jsonl(const Audit& audit, const ReportStyle&, std::ostream& out) {
  JsonReport(audit, out).write_lines();
}

}  // namespace opseal
