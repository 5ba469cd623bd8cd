#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// A kind of live registry that opseal can walk. The walk is done by a Python child, so opseal
// itself needs no Python.
struct Exporter {
  std::string_view name;         // as in `opseal export NAME`; also the manifest's `system`
  std::string_view package;      // what the interpreter must have installed
  std::string_view description;  // one line for the help
  std::string_view script;       // Python text of its entry module
  bool custom_ops = false;       // takes `ExportRequest::custom_ops`
  bool namespaces = false;       // takes `ExportRequest::namespaces`
};

// In the order of their names.
std::span<const Exporter> all_exporters();

struct ExportRequest {
  // A path, or a name on PATH. Empty: `$VIRTUAL_ENV/bin/python`, else `python3` on PATH.
  std::string python{};
  // Imported besides the exporter's own package.
  std::vector<std::string> modules{};
  // Only operators of these: packages of jax, domains of ONNX Runtime, namespaces of torch. Empty:
  // everything; of torch what the modules registered, if there are modules.
  std::vector<std::string> namespaces{};
  // May the exporter also call the operators on their own benchmark data? Without it a package is
  // imported, and of braintrace the functions that lay out trainable inputs are called.
  bool trace = false;
  // Paths of libraries of custom operators. The child loads them, so their code runs there.
  std::vector<std::string> custom_ops{};
  // `NAME=value`, added to the child's environment.
  std::vector<std::string> environment{};
  // Then the child and its children are killed.
  double time_limit_seconds = 300;
  // What the manifest's `producer.version` says.
  std::string tool_version{};
};

enum class ExportStatus {
  ok,
  package_missing,
  no_interpreter,
  failed,  // the exporter gave up, or the interpreter crashed
  timed_out,
  bad_answer,  // the interpreter ended well, but said nothing that can be used
};

std::string_view to_text(ExportStatus status);

struct ExportOutcome {
  ExportStatus status = ExportStatus::failed;
  std::string manifest;  // JSON text; only with `ok`
  std::string message;   // for the user, one line; empty with `ok`
  std::string
      stderr_tail;  // last 16 KiB of what the child wrote to its standard output and standard error
};

// Imports the package in a child process and returns the manifest of its registry. What the child
// prints is passed on to standard error, at most 1 MiB of it. Never throws for anything that the
// child does.
ExportOutcome run_exporter(const Exporter& exporter, const ExportRequest& request);

}  // namespace opseal
