#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/settings.h"
#include "opseal/facts.h"
#include "opseal/finding.h"
#include "opseal/rule.h"

namespace opseal {

struct SeverityCounts {
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
  std::uint64_t notes = 0;
};

// A whole run: what was read, what was found, how each rule went. Const once it is made.
struct Audit {
  Settings settings;
  std::vector<std::string> arguments;
  Facts facts;
  // Sorted by file, place, rule; silenced ones included.
  std::vector<Finding> findings;
  // In the order of the table; only rules that were chosen.
  std::vector<RuleRun> runs;

  // Not silenced.
  SeverityCounts counts;
  std::uint64_t suppressed = 0;
  std::uint64_t baselined = 0;
  // Inputs that were read, and files under given directories that are of no kind opseal knows.
  std::uint64_t inputs = 0;
  std::uint64_t other_files = 0;
  std::uint64_t excluded_files = 0;
  std::uint64_t operators = 0;
  // Everything that was given could be read, and under --strict every chosen rule had something to
  // look at.
  bool complete = true;
  int exit_code = 0;
};

namespace exit_code {
inline constexpr int clean = 0;
inline constexpr int findings = 1;
inline constexpr int usage = 2;
inline constexpr int nothing = 3;
inline constexpr int incomplete = 4;
inline constexpr int defect = 70;
}  // namespace exit_code

// The pipeline, in order. Throws UsageError for what the user has to mend before anything can run.
Audit run_audit(const Options& options);

// Steps 1 to 4 only: for `dump`.
Audit read_inputs(const Options& options);

}  // namespace opseal
