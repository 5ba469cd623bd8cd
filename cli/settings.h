#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/options.h"
#include "opseal/facts.h"
#include "opseal/rule.h"

namespace opseal {

// A mistake in the command line or the configuration file: exit 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What holds for a run: the command line over `opseal.toml` over the defaults.
struct Settings {
  Profile profile = Profile::standard;
  // Ids or globs. Empty: what the profile says.
  std::vector<std::string> select;
  std::vector<std::string> ignore;
  // Rule id or glob -> severity.
  std::vector<std::pair<std::string, Severity>> severities;
  std::vector<std::string> exclude;
  Severity fail_on = Severity::error;
  bool never_fail = false;
  bool strict = false;
  // What the configuration or the command line states, as a document: `required_platforms`,
  // `architectures`.
  std::vector<std::string> platforms;
  std::vector<std::string> architectures;
  // Patterns that matched no rule; a remark says so.
  std::vector<std::string> remarks;
  // Path of the configuration file as a report names it; empty when there is none.
  std::string config_path;
};

Settings make_settings(const Options& options);

// The rules that run under these settings, in the order of the table.
std::vector<const Rule*> choose_rules(Settings& settings);

// "error", "warning", "note".
const char* to_text(Severity severity);
const char* to_text(Profile profile);

}  // namespace opseal
