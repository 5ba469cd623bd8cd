#pragma once

#include <span>
#include <string>
#include <string_view>

#include "opseal/rule.h"

namespace opseal {

// Every row that a framework was asked for, of `probes`: calls `visit(row)`.
template <typename Visit>
void for_each_asked_row(const Facts& facts, Visit visit) {
  for (const Document& document : facts.documents) {
    for (const Fact row : facts.root(document)[Key::probes].items()) {
      if (row[Key::kind].is("framework") && row[Key::name].is_text() && row[Key::status].is_text())
        visit(row);
    }
  }
}

// Those of the framework itself.
template <typename Visit>
void for_each_framework_row(const Facts& facts, Visit visit) {
  for_each_asked_row(facts, [&visit](const Fact& row) {
    if (!row[Key::operator_].is_text()) visit(row);
  });
}

// Those of operators that it called.
template <typename Visit>
void for_each_operator_row(const Facts& facts, Visit visit) {
  for_each_asked_row(facts, [&visit](const Fact& row) {
    if (row[Key::operator_].is_text()) visit(row);
  });
}

// What it means that a check went otherwise than it should.
struct FrameworkFault {
  // The check's name.
  std::string_view row;
  // What the framework does wrong, as a clause.
  std::string_view what;
  Severity severity = Severity::error;
};

// Adds a finding for each row of these that `differs`; counts those with an answer.
void judge_framework_rows(const Facts& facts, std::span<const FrameworkFault> faults, Sink& sink);

// The same for rows of operators: `what` is what the operator does wrong. Calls that go wrong in
// one way are told once.
void judge_operator_rows(const Facts& facts, std::span<const FrameworkFault> faults, Sink& sink);

// "`brainevent` 0.1.2"
std::string framework_text(const Fact& row);

// What a finding about a row is about, and its evidence.
std::string framework_subject(const Fact& row);
Evidence framework_evidence(const Fact& row);

}  // namespace opseal
