#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/pair_description.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/switch_subject.h"
#include "opseal/facts.h"

namespace opseal {

// A value of the enumeration that a predicate is asked about: `GGML_OP_ADD`, or with what its arm
// asks further, `GGML_OP_UNARY/GGML_UNARY_OP_ABS`.
struct KindName {
  std::string name;
  SourcePlace place;
};

struct DispatchEntry {
  KindName kind;
  // What the arm calls first.
  std::string kernel;
  // What the functions that the arm calls, whatever else is asked, assert of the thing (`$`).
  std::vector<KindName> asserts;
};

// Values of another enumeration that a predicate accepts by name in one `switch`.
struct AcceptedLabel {
  std::string name;
  SourcePlace place;
  // How often code of the backend other than its predicates has the name.
  std::uint32_t mentions = 0;
};
struct AcceptedLabels {
  // What is switched over, as written.
  std::string expression;
  SourcePlace place;
  std::vector<AcceptedLabel> labels;
};

// A predicate beside the dispatch that it speaks for.
struct DispatchPair {
  // Of a Python file: a set and what the same thing is looked up in.
  bool python = false;
  // What the predicate refuses is meant.
  bool says_refused = true;
  std::string enumeration;
  std::string backend;
  KindName predicate;
  KindName table;
  std::vector<KindName> accepted;
  std::vector<KindName> refused;
  // It accepts what it doesn't name.
  bool accepts_the_rest = false;
  // Of those that are accepted, the ones that nothing else is asked of.
  std::vector<KindName> always;
  // By kind that something is asserted of: what is asked before it is accepted. Not there where
  // that is too much to be told.
  std::map<std::string, std::vector<KindName>> conditions;
  std::vector<DispatchEntry> entries;
  // What serves the kinds that no label names; none where they miss.
  std::string otherwise;
  // Kinds that need no kernel, with the reason.
  std::vector<std::pair<KindName, std::string>> exceptions;
  std::vector<KindName> kinds;
  std::vector<AcceptedLabels> tested;
  // The text alone tells something else.
  bool typed = false;
};

// Whether two tell the same.
bool tell_the_same(const DispatchPair& left, const DispatchPair& right);

// What `find_dispatch_pairs` may do otherwise for a test: a label of the dispatch that counts as if
// it weren't there.
struct PairOptions {
  std::vector<PairDescription> described;
  std::string removed_label;
  // By number of the file: what is known of it besides its text.
  std::map<std::size_t, StatedEnumerators> stated;
  // Labels that are looked at for one backend, before it is given up.
  std::uint64_t most_labels = Enumerations::enough_labels;
};

// Predicates in the code of one backend, each with its dispatch. `enumerations` are those that
// headers elsewhere declare.
std::vector<DispatchPair> find_dispatch_pairs(const CodeFunctions& code,
                                              const CodeFunctions& enumerations,
                                              const PairOptions& options);

// Words of which a file that names a predicate has one.
std::vector<std::string> predicate_needles(const std::vector<PairDescription>& described);

// Whether a file defines a function of truth that is named after what it supports, and looks
// something up or switches.
bool may_name_predicate(std::string_view bytes);

// Rows of `dispatch`. Needs: an open list.
void write_dispatch_pairs(const std::vector<DispatchPair>& pairs, PlacedWriter& writer);

}  // namespace opseal
