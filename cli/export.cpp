// `opseal export NAME`: a manifest from a live registry.

#include "analyzers/export.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "analyzers/native_functions.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "cli/export_twice.h"
#include "cli/version.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Reads files by itself, unlike the exporters that walk a live registry.
constexpr std::string_view file_exporter = "native-functions";
// Messages about one file, at most.
constexpr std::size_t most_messages = 20;

const Exporter& find_exporter(const std::string& name) {
  std::vector<std::string_view> names;
  std::vector<std::string> all;
  for (const Exporter& exporter : all_exporters()) {
    if (exporter.name == name) return exporter;
    names.push_back(exporter.name);
    all.emplace_back(exporter.name);
  }
  names.push_back(file_exporter);
  all.emplace_back(file_exporter);
  throw UsageError("no exporter " + quote(name) + did_you_mean(name, names) + " (there are " +
                   quote_list(all, all.size()) + ")");
}

std::vector<std::string> those_with_namespaces() {
  std::vector<std::string> names;
  for (const Exporter& exporter : all_exporters()) {
    if (exporter.namespaces) names.emplace_back(exporter.name);
  }
  return names;
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

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // One byte more than is read, so that what is too long shows.
  std::string text(max_native_functions_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // A folder opens, and fails when it is read.
  if (!file.is_open() || file.bad()) throw UsageError("can't read " + quote(path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

int export_files(const Options& options) {
  if (options.paths.empty()) throw UsageError("no files, expected `native_functions.yaml`");
  std::vector<NativeFunctionsFile> files;
  for (const std::string& path : options.paths) files.push_back({path, read_file(path)});
  const NativeFunctionsResult result = native_functions_manifest(files, version_text);
  const std::size_t shown = std::min(result.messages.size(), most_messages);
  for (std::size_t at = 0; at < shown; ++at) {
    std::cerr << "opseal: " << escape(result.messages[at]) << '\n';
  }
  if (shown < result.messages.size()) {
    std::cerr << "opseal: " << result.messages.size() - shown << " more like these\n";
  }
  if (result.manifest.empty()) return exit_code::incomplete;
  write_manifest(result.manifest, options.output);
  return result.lost == 0 ? exit_code::clean : exit_code::incomplete;
}

}  // namespace

int export_registry(const Options& options) {
  if (options.name == file_exporter) {
    if (options.twice)
      throw UsageError("`--twice` for " + quote(file_exporter) + ", which runs nothing");
    return export_files(options);
  }
  if (!options.paths.empty()) {
    throw UsageError("files for " + quote(options.name) + ", expected none: only " +
                     quote(file_exporter) + " reads files");
  }
  ExportRequest request;
  request.python = options.python;
  request.modules = options.imports;
  request.namespaces = options.namespaces;
  request.trace = options.trace;
  request.custom_ops = options.custom_ops;
  request.time_limit_seconds = options.time_limit;
  request.tool_version = version_text;
  const Exporter& exporter = find_exporter(options.name);
  if (!exporter.custom_ops && !request.custom_ops.empty()) {
    throw UsageError("`--custom-op` for " + quote(exporter.name) + ", expected `onnxruntime`");
  }
  if (!exporter.namespaces && !request.namespaces.empty()) {
    throw UsageError("`--namespace` for " + quote(exporter.name) + ", expected " +
                     quote_list(those_with_namespaces(), all_exporters().size()));
  }
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
