#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

struct Rule;

// A place and what it contributes to a finding ("inputs counted here").
struct Evidence {
  Location where;
  std::string label;
};

struct Finding {
  const Rule* rule = nullptr;
  Severity severity = Severity::error;
  // What it is about: `namespace::operator`, a target, a cache.
  std::string subject;
  std::string message;
  Evidence evidence;
  // The other sides.
  std::vector<Evidence> related;
  // Advice more specific than the rule's own; empty when there is none.
  std::string fix;
  // `opseal1:` and 32 hexadecimal digits over rule, subject and message-free evidence: survives
  // edits above it.
  std::string fingerprint;
  // A probe of the same thing shows it; findings about probes themselves are by their rule's tier.
  bool confirmed = false;
  // Empty, or who keeps it quiet: `config`, `baseline`, and why.
  std::string silenced_by;
  std::string silenced_reason;
};

}  // namespace opseal
