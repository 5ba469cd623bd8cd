#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/cache_description.h"
#include "analyzers/join.h"
#include "cli/config.h"
#include "cli/options.h"
#include "compare/changes.h"
#include "opseal/facts.h"
#include "opseal/rule.h"

namespace opseal {

// A mistake in the command line or the configuration file: exit 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Files not to read.
struct Exclusion {
  // Glob without `./` in front and `/` behind.
  std::string pattern;
  // The directory that it is relative to: that of the configuration, or of the run.
  std::string base;
};

// What holds for a run: the command line over `opseal.toml` over the defaults. Lists of the command
// line replace those of the file, but for `ignore` and `exclude`, which add to them.
struct Settings {
  Profile profile = Profile::standard;
  // Ids or globs. Empty: what the profile says.
  std::vector<std::string> select;
  std::vector<std::string> ignore;
  // Rule id or glob, severity; later ones win.
  std::vector<std::pair<std::string, Severity>> severities;
  std::vector<Silence> silences;
  std::vector<Exclusion> exclude;
  std::vector<CacheDescription> caches;
  // `#define` lines for macros whose meaning the sources don't show.
  std::string macros;
  // Each with its place in `config_file`.
  std::vector<ConfigText> macro_heads;
  InputFile config_file;
  std::vector<PairDescription> pairs;
  Severity fail_on = Severity::error;
  bool never_fail = false;
  // The run compares two dumps: it has rules of its own, and fails by what changes mean.
  bool compares = false;
  Impact fail_on_impact = Impact::breaking;
  bool strict = false;
  // libclang is asked about C++ sources.
  bool typed = false;
  // Where opseal keeps what makes the next run faster; empty: nowhere.
  std::string own_cache;
  // `required_platforms` and `architectures`, and the text that states them.
  StatedSettings stated;
  // What the file states where the command line states the rest.
  StatedSettings also_stated;
  // What was asked for and had no effect, such as a pattern that matches no rule.
  std::vector<std::string> remarks;

  // The command line or the file states what only a run can say: `architectures`,
  // `required_platforms`, `joins`.
  bool states(Key key) const;
};

Settings make_settings(const Options& options);

// The rules that run under these settings, in the order of the table: those that compare two dumps
// where the run does, and else the others, unless they are selected. A pattern of `select` that
// matches none is a UsageError, since a gate that checks nothing looks like one that passes;
// elsewhere it is a remark.
std::vector<const Rule*> choose_rules(Settings& settings);

// Sets severities, and silences findings and changes as the settings say. Silences that match
// nothing become remarks, unless their rules are not among those that `ran`, or they are about
// changes and no dumps were compared.
void settle_findings(Settings& settings, const std::vector<const Rule*>& ran,
                     std::vector<Finding>& findings, std::vector<Change>& changes);

// What is said of a pattern that no rule matches.
std::string no_such_rule(const std::string& pattern);

// "error", "warning", "note".
const char* to_text(Severity severity);
// "default", "strict", "audit".
const char* to_text(Profile profile);

}  // namespace opseal
