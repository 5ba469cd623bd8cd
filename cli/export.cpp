// `opseal export NAME`: a manifest from a live registry.

#include "analyzers/export.h"

#include <fstream>
#include <iostream>
#include <vector>

#include "cli/audit.h"
#include "cli/commands.h"
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
  request.custom_ops = options.custom_ops;
  request.time_limit_seconds = options.time_limit;
  request.tool_version = version_text;
  const Exporter& exporter = find_exporter(options.name);
  if (!exporter.custom_ops && !request.custom_ops.empty()) {
    throw UsageError("`--custom-op` for " + quote(exporter.name) + ", expected `onnxruntime`");
  }
  const ExportOutcome outcome = run_exporter(exporter, request);
  if (outcome.status == ExportStatus::ok) {
    write_manifest(outcome.manifest, options.output);
  } else {
    std::cerr << "opseal: " << outcome.message << '\n';
  }
  return code_for(outcome.status);
}

}  // namespace opseal
