// SARIF 2.1.0 (OASIS standard), as code scanning services read it: findings are `results`, problems
// are notifications of the invocation, skipped rules are properties of the run.
//
// Written piece by piece, one result a line, for the reasons that report_json.cpp names. Text
// regions are lines and columns; a file whose lines can't be counted is a binary, whose regions are
// bytes.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/json_text.h"
#include "cli/place_names.h"
#include "cli/places.h"
#include "cli/reports.h"
#include "cli/version.h"

namespace opseal {
namespace {

using nlohmann::ordered_json;

// RFC 3986: what may stand in a path as it is. The colon is left out, since it would end a scheme
// in the first segment of a relative reference.
std::string uri_path(std::string_view path) {
  constexpr std::string_view plain = "-._~!$&'()*+,;=@/";
  std::string out;
  for (const char byte : path) {
    const bool alphanumeric = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                              (byte >= '0' && byte <= '9');
    if (alphanumeric || plain.find(byte) != plain.npos) {
      out += byte;
    } else {
      const auto value = static_cast<unsigned char>(byte);
      out += '%';
      out += "0123456789ABCDEF"[value >> 4];
      out += "0123456789ABCDEF"[value & 15];
    }
  }
  return out;
}

ordered_json message(std::string_view text) { return {{"text", text}}; }

// "jvp" of `jvp-arity`.
std::string_view family(const Rule& rule) { return rule.id.substr(0, rule.id.find('-')); }

ordered_json descriptor(const Rule& rule) {
  std::string help(rule.rationale);
  help += "\n\nFix: ";
  help += rule.fix;
  std::string markdown(rule.rationale);
  markdown += "\n\n**Fix:** ";
  markdown += rule.fix;
  markdown += "\n\n**Example**\n\n```json\n";
  markdown += rule.example;
  markdown += "\n```\n";
  return {{"id", rule.id},
          {"shortDescription", message(rule.title)},
          {"fullDescription", message(rule.rationale)},
          {"help", {{"text", help}, {"markdown", markdown}}},
          {"defaultConfiguration", {{"level", to_text(rule.severity)}}},
          {"properties",
           {{"tags", {family(rule), std::string("profile-") + to_text(rule.profile)}},
            {"inspects", rule.inspects},
            {"since", rule.since}}}};
}

class SarifReport {
 public:
  SarifReport(const Audit& audit, std::ostream& out)
      : audit_(audit), out_(out), places_(audit.facts), place_names_(audit.facts) {
    for (const RuleRun& run : audit.runs) rule_indexes_.emplace(run.rule, rule_indexes_.size());
    silences_ = std::any_of(audit.findings.begin(), audit.findings.end(),
                            [](const Finding& finding) { return !finding.silenced_by.empty(); });
  }

  void write() {
    out_ << "{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
         << "\"version\": \"2.1.0\",\n\"runs\": [{\n\"tool\": {\"driver\": {\"name\": \"opseal\", "
         << "\"version\": \"" << version_text << "\", \"semanticVersion\": \"" << version_text
         << "\", \"rules\": [";
    list(audit_.runs, [](const RuleRun& run) { return descriptor(*run.rule); });
    out_ << "]}},\n";
    write_invocation();
    out_ << "\"originalUriBaseIds\": "
         << json_text({{"SRCROOT",
                        {{"description",
                          message("the repository, or else the working directory, that opseal was "
                                  "started in")}}}})
         << ",\n\"columnKind\": \"unicodeCodePoints\",\n\"results\": [";
    list(audit_.findings, [this](const Finding& finding) { return result(finding); });
    out_ << "],\n\"properties\": " << json_text(properties()) << "}]}\n";
  }

 private:
  template <typename Items, typename Make>
  void list(const Items& items, Make make) {
    const char* separator = "\n";
    for (const auto& item : items) {
      out_ << separator << json_text(make(item));
      separator = ",\n";
    }
  }

  void write_invocation() {
    out_ << "\"invocations\": [{\"executionSuccessful\": " << (audit_.complete ? "true" : "false")
         << ", \"exitCode\": " << audit_.exit_code
         << ", \"arguments\": " << json_text(audit_.arguments)
         << ", \"toolExecutionNotifications\": [";
    list(audit_.facts.problems, [this](const Problem& problem) { return note(problem); });
    out_ << "]}],\n";
  }

  ordered_json note(const Problem& problem) {
    ordered_json note = {{"level", to_text(problem.severity)},
                         {"message", message(problem.message)}};
    if (problem.where.known()) {
      note["locations"] = ordered_json::array({located(problem.where, "")});
    }
    return note;
  }

  ordered_json properties() const {
    ordered_json skipped = ordered_json::array();
    ordered_json inspected = ordered_json::object();
    for (const RuleRun& run : audit_.runs) {
      if (run.skipped) {
        skipped.push_back({{"rule", run.rule->id}, {"reason", run.reason}});
      } else {
        inspected[std::string(run.rule->id)] = run.inspected;
      }
    }
    return {{"skippedRules", std::move(skipped)}, {"inspected", std::move(inspected)}};
  }

  ordered_json artifact(std::uint32_t file) const {
    const std::string& path = audit_.facts.files[file].path;
    if (path == "-") return {{"uri", "-"}, {"description", message("standard input")}};
    // What stands for the command line is no file.
    if (path.starts_with('(')) return {{"description", message(path)}};
    // Outside the root of the run.
    if (path.starts_with('/')) return {{"uri", "file://" + uri_path(path)}};
    return {{"uri", uri_path(path)}, {"uriBaseId", "SRCROOT"}};
  }

  ordered_json located(const Location& where, const std::string& subject) {
    ordered_json place = ordered_json::object();
    if (where.known()) {
      place["physicalLocation"] = {{"artifactLocation", artifact(where.file)}};
      if (where.offset != 0 || where.length != 0) {
        place["physicalLocation"]["region"] = region(where);
      }
    }
    ordered_json names = ordered_json::array();
    if (const std::string pointer = place_names_.logical(where); !pointer.empty()) {
      names.push_back({{"fullyQualifiedName", pointer}, {"kind", "member"}});
    }
    if (!subject.empty()) names.push_back({{"fullyQualifiedName", subject}, {"kind", "function"}});
    if (!names.empty()) place["logicalLocations"] = std::move(names);
    return place;
  }

  ordered_json region(const Location& where) {
    const Position position = places_.position(where);
    if (position.line == 0) return {{"byteOffset", where.offset}, {"byteLength", where.length}};
    return {{"startLine", position.line},
            {"startColumn", position.column},
            {"endLine", position.end_line},
            {"endColumn", position.end_column}};
  }

  ordered_json result(const Finding& finding) {
    ordered_json related = ordered_json::array();
    // The primary place has a label too, which a `location` of a result has no room for but here.
    ordered_json location = located(finding.evidence.where, finding.subject);
    if (!finding.evidence.label.empty()) location["message"] = message(finding.evidence.label);
    for (const Evidence& other : finding.related) {
      ordered_json place = located(other.where, "");
      place["id"] = related.size() + 1;
      place["message"] = message(other.label);
      related.push_back(std::move(place));
    }
    ordered_json result = {
        {"ruleId", finding.rule->id},
        {"ruleIndex", rule_indexes_.at(finding.rule)},
        {"level", to_text(finding.severity)},
        {"message", message(finding.subject + ": " + finding.message)},
        {"locations", ordered_json::array({std::move(location)})},
        {"relatedLocations", std::move(related)},
        {"partialFingerprints", {{"opseal/v1", finding.fingerprint}}},
        {"properties",
         {{"fix", finding.fix.empty() ? std::string(finding.rule->fix) : finding.fix}}}};
    // The standard wants the key on every result of a run or on none.
    if (silences_) result["suppressions"] = suppressions(finding);
    return result;
  }

  static ordered_json suppressions(const Finding& finding) {
    ordered_json list = ordered_json::array();
    if (finding.silenced_by.empty()) return list;
    list.push_back(
        {{"kind", finding.silenced_by == "comment" ? "inSource" : "external"},
         {"justification", finding.silenced_reason.empty() ? "silenced by " + finding.silenced_by
                                                           : finding.silenced_reason}});
    return list;
  }

  const Audit& audit_;
  std::ostream& out_;
  Places places_;
  PlaceNames place_names_;
  std::map<const Rule*, std::size_t> rule_indexes_;
  bool silences_ = false;
};

}  // namespace

void write_sarif(const Audit& audit, const ReportStyle&, std::ostream& out) {
  SarifReport(audit, out).write();
}

}  // namespace opseal
