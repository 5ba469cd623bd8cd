#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/reports.h"

namespace opseal {
namespace {

bool wants_color(const Options& options, bool terminal) {
  if (options.color != "auto") return options.color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return terminal && (no_color == nullptr || *no_color == '\0');
}

void write_reports(const Options& options, const Audit& audit) {
  std::vector<ReportRequest> reports = options.reports;
  if (reports.empty()) reports.push_back({"text", ""});
  for (const ReportRequest& request : reports) {
    const Report& report = *find_report(request.format);
    if (request.path.empty() || request.path == "-") {
      report.write(audit, {wants_color(options, ::isatty(STDOUT_FILENO) == 1)}, std::cout);
      std::cout.flush();
      continue;
    }
    std::ofstream file(request.path, std::ios::binary);
    report.write(audit, {options.color == "always"}, file);
    file.close();
    if (!file) throw UsageError("can't write the report to " + request.path);
  }
}

int check(const Options& options) {
  const Audit audit = run_audit(options);
  write_reports(options, audit);
  return audit.exit_code;
}

int run(const Options& options) {
  switch (options.command) {
    case Command::check:
      return check(options);
    case Command::dump:
      return dump(options);
    case Command::explain:
      return explain(options);
    case Command::rules:
      return list_rules(options);
    case Command::schema:
      return print_schema(options);
    case Command::export_:
      return export_registry(options);
  }
  return exit_code::defect;
}

}  // namespace
}  // namespace opseal

int main(int argc, char** argv) {
  try {
    const opseal::Parsed parsed = opseal::parse_command_line(argc, argv);
    const int code = parsed.options ? opseal::run(*parsed.options) : parsed.exit_code;
    // A report that nobody can read must not look like a clean run.
    std::cout.flush();
    if (!std::cout) throw opseal::UsageError("can't write to standard output");
    return code;
  } catch (const opseal::UsageError& error) {
    std::cerr << "opseal: " << error.what() << '\n';
    return opseal::exit_code::usage;
  } catch (const std::exception& error) {
    std::cerr << "opseal: internal error, please report: " << error.what() << '\n';
    return opseal::exit_code::defect;
  }
}
