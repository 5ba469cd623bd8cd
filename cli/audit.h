#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/settings.h"
#include "compare/changes.h"
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
  // `check`, `diff`, `probe`
  std::string command = "check";
  Settings settings;
  std::vector<std::string> arguments;
  Facts facts;
  // Sorted by file, place, rule; silenced ones included.
  std::vector<Finding> findings;
  // Where two dumps were compared.
  Changes changes;
  // In the order of the table; only rules that were chosen.
  std::vector<RuleRun> runs;

  // Not silenced.
  SeverityCounts counts;
  std::uint64_t suppressed = 0;
  std::uint64_t baselined = 0;
  // Inputs that were read, and files under given directories that are of no kind opseal knows.
  std::uint64_t inputs = 0;
  // Of these, trees of sources.
  std::uint64_t source_trees = 0;
  std::uint64_t other_files = 0;
  std::uint64_t excluded_files = 0;
  std::uint64_t operators = 0;
  // What modules of C++ give Python beside any registry.
  std::uint64_t bound_functions = 0;
  // Built files whose content was read, those in packages included.
  std::uint64_t libraries = 0;
  // Of `probe`: how many were made, and what the sandbox of the children could not do here.
  std::uint64_t probes = 0;
  std::vector<std::string> sandbox_lacks;
  // Findings of reading that a probe showed to be wrong.
  std::uint64_t refuted = 0;
  // Under --strict: rules that were asked for and had nothing to look at, each with the reason.
  std::vector<std::string> unheard;
  // Everything that was given could be read, and there is nothing unheard.
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

// The same for `probe`: what can be called is called before the rules judge.
Audit run_probe(const Options& options);

// The same for `diff`: two dumps are read, compared, and judged by the rules that compare.
Audit run_diff(const Options& options);

// Compares the two dumps that the facts hold already.
void compare_dumps(const Options& options, Audit& audit);

// What a finding of a rule that compares weighs among changes.
Impact impact_of(Severity severity);

// Steps 1 to 4 only: for `dump`.
Audit read_inputs(const Options& options);

}  // namespace opseal
