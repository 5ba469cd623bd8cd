// `opseal check`, `opseal diff` and `opseal probe`: the audit, and its reports.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>

#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/reports.h"
#include "opseal/text.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

bool wants_color(const Options& options, bool terminal) {
  if (options.color != "auto") return options.color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return terminal && (no_color == nullptr || *no_color == '\0');
}

std::string real_path(const std::string& path) {
  std::error_code error;
  return fs::weakly_canonical(path, error).string();
}

// A report must not be written over another one, nor over what it is about.
void check_targets(const std::vector<ReportRequest>& reports, const Facts& facts) {
  std::set<std::string> taken;
  for (const ReportRequest& request : reports) {
    const std::string target = request.path == "-" ? "-" : real_path(request.path);
    if (!taken.insert(target).second) {
      throw UsageError("two reports to " +
                       (target == "-" ? "standard output" : quote(request.path)));
    }
    for (const InputFile& input : facts.files) {
      if (!input.open_path.empty() && real_path(input.open_path) == target) {
        throw UsageError("the report would be written over the input " + quote(request.path));
      }
    }
  }
}

void write_reports(const Options& options, const Audit& audit) {
  std::vector<ReportRequest> reports = options.reports;
  if (reports.empty()) reports.push_back({"text", "-"});
  check_targets(reports, audit.facts);
  for (const ReportRequest& request : reports) {
    const Report& report = *find_report(request.format);
    if (request.path == "-") {
      report.write(audit, {wants_color(options, ::isatty(STDOUT_FILENO) == 1)}, std::cout);
      std::cout.flush();
      continue;
    }
    std::ofstream file(request.path, std::ios::binary);
    report.write(audit, {options.color == "always"}, file);
    file.close();
    if (!file) throw UsageError("can't write the report to " + quote(request.path));
  }
}

// As a shell takes it.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      word += "'\\''";
    } else {
      word += letter;
    }
  }
  return word + '\'';
}

// Where modules are found that are to be imported: each folder from the root.
std::string python_path(const Options& options) {
  const char* stated = options.imports.empty() ? nullptr : std::getenv("PYTHONPATH");
  if (stated == nullptr || *stated == '\0') return {};
  std::string path;
  std::istringstream folders(stated);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!path.empty()) path += ':';
    if (!folder.empty()) path += fs::absolute(folder).string();
  }
  return "PYTHONPATH=" + shell_word(path) + ' ';
}

std::string repro_command(const Options& options) {
  std::string command = python_path(options) + "opseal probe --seed " +
                        std::to_string(options.seed) + " --threads 1 --only " +
                        shell_word(options.repro);
  if (options.probe_limit) {
    std::ostringstream limit;
    limit << *options.probe_limit;
    command += " --time-limit " + limit.str();
  }
  if (options.no_config) command += " --no-config";
  if (!options.config.empty()) command += " --config " + shell_word(real_path(options.config));
  if (options.no_ignore) command += " --no-ignore";
  for (const std::string& framework : options.frameworks) command += " --framework " + framework;
  for (const std::string& module : options.imports) command += " --import " + shell_word(module);
  // Not the real path: a virtual environment is known by its link.
  if (options.python.find('/') != std::string::npos) {
    command += " --python " + shell_word(fs::absolute(options.python).string());
  } else if (!options.python.empty()) {
    command += " --python " + shell_word(options.python);
  }
  for (const std::string& path : options.paths) command += ' ' + shell_word(real_path(path));
  return command;
}

}  // namespace

int check(const Options& options) {
  const Audit audit = run_audit(options);
  write_reports(options, audit);
  return audit.exit_code;
}

int diff(const Options& options) {
  const Audit audit = run_diff(options);
  write_reports(options, audit);
  return audit.exit_code;
}

int probe(const Options& options) {
  if (!options.repro.empty()) {
    std::cout << repro_command(options) << '\n';
    return exit_code::clean;
  }
  const Audit audit = run_probe(options);
  write_reports(options, audit);
  return audit.exit_code;
}

}  // namespace opseal
