#include "rules/framework_rows.h"

#include <algorithm>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/probe_facts.h"

namespace opseal {

std::string framework_text(const Fact& row) {
  std::string text = quote(row[Key::system].text("the framework"));
  if (row[Key::version].is_text()) text += ' ' + std::string(row[Key::version].text());
  return text;
}

std::string framework_subject(const Fact& row) {
  if (row[Key::identity].is_text()) return std::string(row[Key::identity].text());
  return std::string(row[Key::system].text()) + '/' + std::string(row[Key::name].text());
}

Evidence framework_evidence(const Fact& row) {
  return evidence(row, "check " + quote(row[Key::name].text()));
}

namespace {

// The fault that a row shows, if it went otherwise; counts each row that has an answer.
const FrameworkFault* fault_of(const Fact& row, std::span<const FrameworkFault> faults,
                               Sink& sink) {
  const auto fault = std::ranges::find(faults, row[Key::name].text(), &FrameworkFault::row);
  if (fault == faults.end()) return nullptr;
  const bool differs = row[Key::status].is("differs");
  if (!differs && !row[Key::status].is("passed")) return nullptr;
  sink.inspected();
  return differs ? &*fault : nullptr;
}

// ": 101.0; expected 202.0"
std::string difference_text(const Fact& row) {
  std::string text;
  if (row[Key::seen].is_text()) text += ": " + std::string(row[Key::seen].text());
  if (row[Key::expected].is_text()) text += "; expected " + std::string(row[Key::expected].text());
  return text;
}

}  // namespace

void judge_framework_rows(const Facts& facts, std::span<const FrameworkFault> faults, Sink& sink) {
  for_each_framework_row(facts, [&](const Fact& row) {
    const FrameworkFault* fault = fault_of(row, faults, sink);
    if (fault == nullptr) return;
    sink.add(framework_subject(row),
             framework_text(row) + ": " + std::string(fault->what) + difference_text(row),
             framework_evidence(row))
        .severity = fault->severity;
  });
}

void judge_operator_rows(const Facts& facts, std::span<const FrameworkFault> faults, Sink& sink) {
  ProbeFindings findings(sink);
  for_each_operator_row(facts, [&](const Fact& row) {
    const FrameworkFault* fault = fault_of(row, faults, sink);
    if (fault == nullptr) return;
    const std::string input(row[Key::input].text());
    std::string message = quote(row[Key::operator_].text()) + ", called by " + framework_text(row) +
                          ", " + std::string(fault->what);
    if (!input.empty()) message += ", input " + quote(input);
    message += difference_text(row);
    if (row[Key::arguments].is_list()) message += "; in a call " + call_text(row);
    findings.add(row, std::string(fault->row) + '\0' + input, std::move(message), fault->severity);
  });
  findings.tell();
}

}  // namespace opseal
