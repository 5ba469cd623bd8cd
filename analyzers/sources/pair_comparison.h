#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/enumerator_run.h"
#include "analyzers/sources/switch_subject.h"

namespace opseal {

// What a predicate answers, value by value, beside what the functions that dispatch do.
class PairComparison {
 public:
  PairComparison(const CodeFunctions& code, const Enumerations& enumerations,
                 std::string_view removed_label)
      : code_(code), enumerations_(enumerations), removed_label_(removed_label) {}

  // What the configuration says of the pair.
  void heed(const PairDescription& described);

  // A text or a function that an arm gives back is what the dispatch does.
  void count_constants() { run_options_.constants = true; }

  // None where one of the functions decides by no enumeration.
  std::optional<DispatchPair> compare(const CodeFunction& predicate,
                                      const std::vector<const CodeFunction*>& dispatches,
                                      const std::string& backend);

  // `followed` gets the functions that are asked on the way.
  std::set<std::string_view> accepted_by(const SwitchSubject& asked,
                                         std::set<const CodeFunction*>& followed) const;
  // Values whose arm calls something, or gives back a constant where these count.
  std::set<std::string_view> arms_of(const SwitchSubject& subject) const;
  // Values that a label or a comparison names, whatever is done for them.
  std::set<std::string_view> named_by(const SwitchSubject& subject) const;
  // A value that no arm names ends in an abort, an exception or with nothing.
  bool rejects_the_rest(const SwitchSubject& subject) const;

 private:
  // What one value does in a dispatch.
  struct Served {
    bool named = false;
    bool handled = false;
    bool rejected = false;
    CodePlace label{0, no_token};
    std::string kernel;
    // Something is called, not only given back or stored.
    bool calls = false;
    // What is given back is a text or the name of a function.
    bool gives = false;
    // The places of what is called, where nothing else is asked on the way.
    std::vector<CodePlace> certain;
  };
  // One predicate, the functions that dispatch, and what is put down of them.
  struct Compared {
    SwitchSubject asked;
    std::vector<SwitchSubject> dispatches;
    DispatchPair pair;
    bool accepts_the_rest = false;
  };

  bool needs_no_kernel(std::string_view value) const;
  bool is_call(CodePlace place) const;
  bool is_constant(std::string_view name) const;
  Served serve(EnumeratorRun& run, const SwitchSubject& subject, const Assumed& assumed,
               const RunOutcome& baseline, std::string_view value) const;
  std::vector<KindName> told(const std::vector<RunCondition>& conditions) const;
  std::vector<KindName> asserted(const SwitchSubject& subject,
                                 const std::vector<CodePlace>& calls) const;
  SourcePlace place_of_token(CodePlace place) const;
  KindName place_of_function(const CodeFunction& function) const;
  EnumeratorRun dispatch_run() const;
  void run_kinds(Compared& all);
  void run_kind(Compared& all, std::string_view value, EnumeratorRun& predicate,
                const std::vector<RunOutcome>& baselines);
  CodePlace named_label(const EnumeratorRun& run, std::string_view value) const;
  const CodeEnumeration* enumeration_of(const OpenSwitch& open) const;
  bool run_further(Compared& all, std::string_view value, const OpenSwitch& asked,
                   const std::vector<OpenSwitch>& served, EnumeratorRun& predicate);
  void put_down(Compared& all, std::string name, std::string_view value, const RunOutcome& outcome,
                CodePlace label, const Served& served, bool refuses_the_rest, bool always);
  void put_down_conditions(DispatchPair& pair, const SwitchSubject& dispatch,
                           const EnumeratorRun& predicate, const std::vector<CodePlace>& calls);

  const CodeFunctions& code_;
  const Enumerations& enumerations_;
  std::string_view removed_label_;
  EnumeratorRun::Options run_options_;
  EnumeratorRun::Options removing_;
  std::set<std::string, std::less<>> noop_;
  // A function holds the value against something of which nothing tells what it is.
  bool met_unknown_ = false;
};

}  // namespace opseal
