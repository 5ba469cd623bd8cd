#pragma once

#include <optional>
#include <string>
#include <vector>

namespace opseal {

// One `-o FORMAT[=PATH]`.
struct ReportRequest {
  std::string format;
  // `-`: standard output.
  std::string path;
};

enum class Command { check, diff, dump, explain, rules, schema, export_, init, probe };

// What the command line says, and nothing else: values that were not given are empty, so that the
// configuration file can fill them.
struct Options {
  Command command = Command::check;
  // As written, for the report.
  std::vector<std::string> arguments;

  // check, diff, dump, probe
  std::vector<std::string> paths;
  std::vector<ReportRequest> reports;
  std::vector<std::string> select;
  std::vector<std::string> ignore;
  std::vector<std::string> platforms;
  std::vector<std::string> architectures;
  std::vector<std::string> exclude;
  std::string profile;
  // A severity; for diff what a change means.
  std::string fail_on;
  // A rule that was asked for and had nothing to look at makes the run incomplete.
  bool strict = false;
  // Read what git ignores too.
  bool no_ignore = false;
  // Nothing to check is fine: for hooks that are handed any JSON file.
  bool allow_empty = false;
  // Empty: looked for upwards.
  std::string config;
  bool no_config = false;
  // auto, always, never
  std::string color = "auto";
  unsigned threads = 0;
  // `lexed`, `typed`; empty: as the configuration says.
  std::string tier;
  // Nothing is kept for the next run, and nothing read that an earlier one kept.
  bool no_cache = false;

  // init: to standard output
  bool print = false;

  // explain, schema, export: the name
  std::string name;
  // rules
  bool markdown = false;

  // export
  std::string python;
  std::vector<std::string> imports;
  std::vector<std::string> namespaces;
  bool trace = false;
  std::vector<std::string> custom_ops;
  // Export in two processes and compare.
  bool twice = false;
  double time_limit = 300;
  std::string output;

  // probe: of the generated inputs
  unsigned seed = 1;
  // Globs over identities of probes.
  std::vector<std::string> only;
  // Print the command that runs these again, and run nothing.
  std::string repro;
  // Seconds for each probe; not stated: 10, and 300 for a check of a framework.
  std::optional<double> probe_limit;
  // Frameworks that are asked themselves, by the interpreter `python`.
  std::vector<std::string> frameworks;
};

// Either the options or, for help, version and mistakes, the exit code with everything already
// printed.
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
};

Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace opseal
