#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"

namespace opseal {

// One registration of an operator that several systems have.
struct CrossColumn {
  Fact manifest;
  // Of `operators` or of `targets`.
  Fact item;
  bool target = false;
  // The name alone, as its own system writes it, makes it this operator's.
  bool exact = false;
  // The text that joins it, where one does.
  Fact stated;
};

// How sure it is that two registrations are one operator. A base name alone (torch's `add` and
// ONNX's `Add`) proves nothing and joins nothing.
enum class Certainty : std::uint8_t {
  // One project and equal names once a system's own additions are dropped.
  likely,
  // Equal names in equal namespaces.
  sure,
  // Somebody says so.
  stated,
};

// All registrations of one operator: a row of the decision table.
struct CrossOperator {
  // In the order of the inputs. Two at least, of two systems at least or all stated.
  std::vector<CrossColumn> columns;
};

// Every operator that is joined: first those that `joins` states, then those that share a name,
// without registrations that `joins` states elsewhere. Of the versions of one operator the newest
// that isn't deprecated. n log n in the registrations, and nothing for the run of one system.
std::vector<CrossOperator> cross_operators(const Facts& facts);

Certainty certainty_of(const CrossColumn& a, const CrossColumn& b);

// Registrations of one system are held together only where somebody joined them: two dumps of one
// registry are two versions of it.
bool comparable(const CrossColumn& a, const CrossColumn& b);

// "torch operator `mylib::rope`".
std::string column_text(const CrossColumn& column);

// `mylib::rope`, `jax::mylib_rope`.
std::string subject_of(const CrossColumn& column);

// Adds the texts that join the two, or says how sure their names make it.
void add_join_evidence(const CrossColumn& reference, const CrossColumn& other, Finding& finding);

// Holds every column that says something against the one that most agree with, else the first
// operator.
// `said(column)` gives what it says, or something false; `agree(a, b)` compares two of those, and
// `report(reference, other, a, b)` tells a difference.
template <typename Said, typename Agree, typename Report>
void hold_together(const CrossOperator& op, Sink& sink, Said said, Agree agree, Report report) {
  // Enough to find a majority; every column is held against the chosen one.
  constexpr std::size_t most_candidates = 4;
  using Value = decltype(said(op.columns.front()));
  std::vector<std::pair<const CrossColumn*, Value>> heard;
  for (const CrossColumn& column : op.columns) {
    Value value = said(column);
    if (value) heard.emplace_back(&column, std::move(value));
  }
  if (heard.size() < 2) return;
  std::size_t reference = 0;
  std::size_t best = 0;
  const std::size_t candidates = std::min(heard.size(), most_candidates);
  for (std::size_t i = 0; i < candidates; ++i) {
    std::size_t agreeing = 0;
    for (std::size_t j = 0; j < candidates; ++j) {
      if (i != j && agree(heard[i].second, heard[j].second)) ++agreeing;
    }
    const bool fitter = heard[reference].first->target && !heard[i].first->target;
    if (agreeing > best || (agreeing == best && fitter)) {
      best = agreeing;
      reference = i;
    }
  }
  const auto& [expected_column, expected] = heard[reference];
  for (std::size_t i = 0; i < heard.size(); ++i) {
    if (i == reference || !comparable(*expected_column, *heard[i].first)) continue;
    sink.inspected();
    if (!agree(expected, heard[i].second))
      report(*expected_column, *heard[i].first, expected, heard[i].second);
  }
}

}  // namespace opseal
