#pragma once

#include <span>
#include <string>
#include <string_view>

#include "opseal/rule.h"

namespace opseal {

// Every check of a framework itself, of `probes`: calls `visit(row)`.
template <typename Visit>
void for_each_framework_row(const Facts& facts, Visit visit) {
  for (const Document& document : facts.documents) {
    for (const Fact row : facts.root(document)[Key::probes].items()) {
      if (row[Key::kind].is("framework") && row[Key::name].is_text() && row[Key::status].is_text())
        visit(row);
    }
  }
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

// "`brainevent` 0.1.2"
std::string framework_text(const Fact& row);

// What a finding about a row is about, and its evidence.
std::string framework_subject(const Fact& row);
Evidence framework_evidence(const Fact& row);

}  // namespace opseal
