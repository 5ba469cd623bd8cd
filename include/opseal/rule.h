#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/facts.h"
#include "opseal/finding.h"

namespace opseal {

// The narrowest profile that runs a rule; each profile runs those before it too.
enum class Profile : std::uint8_t {
  // What a stranger can trust: wrong or failing for some user.
  standard,
  // Every rule that gives errors and warnings.
  strict,
  // Notes too.
  audit,
};

// Which kind of reading a finding rests on.
enum class Tier : std::uint8_t { manifest, lexed, typed, bytes, trace, probe };

// Collects what one running rule sees. It knows the rule, so a check never writes an id or a
// severity.
class Sink {
 public:
  explicit Sink(const Rule& rule) : rule_(&rule) {}

  // To be called once for each item that had everything the rule needs, before the verdict.
  void inspected(std::uint64_t items = 1) { inspected_ += items; }
  // The reference is good until the next call.
  Finding& add(std::string subject, std::string message, Evidence evidence);

  std::uint64_t inspected_count() const { return inspected_; }
  std::vector<Finding>& findings() { return findings_; }

 private:
  const Rule* rule_;
  std::uint64_t inspected_ = 0;
  std::vector<Finding> findings_;
};

using Check = void (*)(const Facts&, Sink&);

struct Rule {
  // kebab-case, family first, never reused.
  std::string_view id;
  // What is wrong, as a noun phrase or clause; lower case, no full stop.
  std::string_view title;
  // Why it hurts, for somebody who never met the system. Sentences.
  std::string_view rationale;
  // The smallest registration that fires, as it would stand in a manifest.
  std::string_view example;
  // What to do; lower case, no full stop.
  std::string_view fix;
  Severity severity = Severity::error;
  Profile profile = Profile::standard;
  Tier tier = Tier::manifest;
  // Compares a dump with another of the same thing: run by `opseal diff`, skipped elsewhere.
  bool two_dumps = false;
  // What one inspected item is ("operator with per-input JVP rules and a stated number of inputs").
  std::string_view inspects;
  // Keys that must occur somewhere in the inputs, else the rule is skipped without a look. Unused
  // slots are `Key::none`.
  std::array<Key, 4> needs{};
  // Keys of built libraries that the rule looks at where they are said, and can do without: what
  // has the libraries read that a manifest names.
  std::array<Key, 4> reads{};
  // Where the settings of the run state this key, the rule runs whatever the profile: who states it
  // asks for the rule. Where it lacks nothing else, reports say how to state it.
  Key asked_by = Key::none;
  // First version of opseal that has it.
  std::string_view since = "0.1.0";
  Check check = nullptr;
};

// How one rule went. A rule that inspected nothing was skipped; it did not pass.
struct RuleRun {
  const Rule* rule = nullptr;
  std::uint64_t inspected = 0;
  std::uint64_t findings = 0;
  bool skipped = false;
  // Why it was skipped; empty otherwise.
  std::string reason;
  // The first of its needs that no input says, where that is why.
  Key missing = Key::none;
};

}  // namespace opseal
