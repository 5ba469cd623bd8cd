// `opseal export NAME`: a manifest from a live registry.

#include "analyzers/export.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <vector>

#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/export_twice.h"
#include "cli/version.h"
#include "opseal/text.h"

namespace opseal {
namespace {

const Exporter& find_exporter(const std::string& name) {
  std::vector<std::string_view> names;
  std::vector<std::string> all;
  for (const Exporter& exporter : all_exporters()) {
    if (exporter.name == name) return exporter;
    names.push_back(exporter.name);
    all.emplace_back(exporter.name);
  }
  throw UsageError("no exporter " + quote(name) + did_you_mean(name, names) + " (there are " +
                   quote_list(all, all.size()) + ")");
}

int code_for(ExportStatus status) {
  switch (status) {
    case ExportStatus::ok:
      return exit_code::clean;
    case ExportStatus::package_missing:
    case ExportStatus::no_interpreter:
      return exit_code::usage;
    case ExportStatus::failed:
    case ExportStatus::timed_out:
    case ExportStatus::bad_answer:
      return exit_code::incomplete;
  }
  return exit_code::defect;
}

// Exports in a second process in which whatever might matter and shouldn't is otherwise, and
// compares.
int export_again(const Exporter& exporter, ExportRequest request, const std::string& first) {
  request.environment = {"PYTHONHASHSEED=2"};
  std::reverse(request.modules.begin(), request.modules.end());
  const ExportOutcome outcome = run_exporter(exporter, request);
  if (outcome.status != ExportStatus::ok) {
    std::cerr << "opseal: second export: " << outcome.message << '\n';
    return code_for(outcome.status);
  }
  const std::string differences = export_differences(first, outcome.manifest);
  std::cerr << differences;
  return differences.empty() ? exit_code::clean : exit_code::findings;
}

void write_manifest(const std::string& manifest, const std::string& path) {
  if (path.empty() || path == "-") {
    std::cout << manifest;
    return;
  }
  std::ofstream file(path, std::ios::binary);
  file << manifest;
  file.close();
  if (!file) throw UsageError("can't write the manifest to " + quote(path));
}

}  // namespace

int export_registry(const Options& options) {
  ExportRequest request;
  request.python = options.python;
  request.modules = options.imports;
  request.trace = options.trace;
  request.time_limit_seconds = options.time_limit;
  request.tool_version = version_text;
  const Exporter& exporter = find_exporter(options.name);
  // What depends on the order of a set of texts is then the same in every export, or shows itself.
  if (options.twice) request.environment = {"PYTHONHASHSEED=1"};
  const ExportOutcome outcome = run_exporter(exporter, request);
  if (outcome.status == ExportStatus::ok) {
    write_manifest(outcome.manifest, options.output);
  } else {
    std::cerr << "opseal: " << outcome.message << '\n';
  }
  if (outcome.status == ExportStatus::ok && options.twice)
    return export_again(exporter, request, outcome.manifest);
  return code_for(outcome.status);
}

}  // namespace opseal
