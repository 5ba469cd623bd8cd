#include "rules/rules.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "opseal/side_by_side.h"
#include "opseal/text.h"

namespace opseal {

#define OPSEAL_RULE(name) extern const Rule name;
#include "rules/rules.def"
#undef OPSEAL_RULE

namespace {

constexpr const Rule* rule_table[] = {
#define OPSEAL_RULE(name) &name,
#include "rules/rules.def"
#undef OPSEAL_RULE
};

// The first need that no input says, or `Key::none`.
Key unmet_need(const Rule& rule, const Facts& facts) {
  for (const Key key : rule.needs) {
    if (key != Key::none && !facts.said[static_cast<std::size_t>(key)]) return key;
  }
  return Key::none;
}

// Why a rule was skipped for the lack of a key, and how to state one that only the run can say.
std::string unsaid_reason(const Rule& rule, Key missing) {
  std::string reason = "no input says " + quote(to_text(missing));
  if (missing != rule.asked_by) return reason;
  const std::string_view option = option_that_states(missing);
  return option.empty() ? reason : reason + "; " + quote(option) + " states them";
}

}  // namespace

std::span<const Rule* const> all_rules() { return rule_table; }

const Rule* find_rule(std::string_view id) {
  for (const Rule* rule : rule_table) {
    if (rule->id == id) return rule;
  }
  return nullptr;
}

std::string_view option_that_states(Key key) {
  if (key == Key::architectures) return "--arch";
  return key == Key::required_platforms ? "--platform" : std::string_view();
}

bool has_two_dumps(const Facts& facts) {
  const auto has = [&facts](Side side) {
    return std::any_of(facts.documents.begin(), facts.documents.end(),
                       [side](const Document& document) { return document.side == side; });
  };
  return has(Side::before) && has(Side::after);
}

Finding& Sink::add(std::string subject, std::string message, Evidence evidence) {
  Finding finding;
  finding.rule = rule_;
  finding.severity = rule_->severity;
  finding.subject = std::move(subject);
  finding.message = std::move(message);
  finding.evidence = std::move(evidence);
  findings_.push_back(std::move(finding));
  return findings_.back();
}

RuleRun run_rule(const Rule& rule, const Facts& facts, std::vector<Finding>& findings) {
  RuleRun run;
  run.rule = &rule;
  run.missing = unmet_need(rule, facts);
  if (rule.two_dumps && !has_two_dumps(facts)) {
    run.missing = Key::none;
    run.reason = "compares two dumps, which `opseal diff` does";
  } else if (run.missing != Key::none) {
    run.reason = unsaid_reason(rule, run.missing);
  }
  Sink sink(rule);
  if (run.reason.empty()) {
    rule.check(facts, sink);
    if (sink.inspected_count() == 0) run.reason = "found no " + std::string(rule.inspects);
  }
  run.skipped = !run.reason.empty();
  run.inspected = sink.inspected_count();
  run.findings = sink.findings().size();
  std::move(sink.findings().begin(), sink.findings().end(), std::back_inserter(findings));
  return run;
}

std::vector<RuleRun> run_rules(std::span<const Rule* const> rules, const Facts& facts,
                               unsigned threads, std::vector<Finding>& findings) {
  std::vector<RuleRun> runs(rules.size());
  std::vector<std::vector<Finding>> found(rules.size());
  side_by_side(threads, rules.size(),
               [&](std::size_t at) { runs[at] = run_rule(*rules[at], facts, found[at]); });
  for (std::vector<Finding>& part : found) {
    std::move(part.begin(), part.end(), std::back_inserter(findings));
  }
  return runs;
}

}  // namespace opseal
