#include "analyzers/export.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "analyzers/export_child.h"
#include "analyzers/python_program.h"

namespace opseal {
namespace {

constexpr std::size_t most_answer_bytes = std::size_t{1} << 30;
std::string quoted(std::string_view text) {
  std::string quoted_text("`");
  quoted_text += text;
  quoted_text += '`';
  return quoted_text;
}

// One line for a message: what a package says of its failure may be long and hold anything.
std::string first_line(std::string_view text) {
  std::string line(text.substr(0, std::min(text.find('\n'), std::size_t{400})));
  std::ranges::replace_if(
      line, [](char character) { return static_cast<unsigned char>(character) < 0x20; }, ' ');
  return line;
}

ChildRequest child_request(const Exporter& exporter, const ExportRequest& request,
                           const std::string& python) {
  ChildRequest child;
  child.program = python;
  // -B: nothing of what is imported may leave bytecode beside the sources that are audited.
  child.arguments = {"-B", "-c", std::string(python_bootstrap()), std::string(exporter.name),
                     request.tool_version};
  if (request.trace) child.arguments.emplace_back("--trace");
  for (const std::string& module : request.modules) {
    child.arguments.push_back("--import=" + module);
  }
  for (const std::string& library : request.custom_ops) {
    child.arguments.push_back("--custom-op=" + library);
  }
  for (const std::string& name : request.namespaces) {
    child.arguments.push_back("--namespace=" + name);
  }
  child.environment = request.environment;
  child.input = framed_python_scripts();
  child.time_limit_seconds = request.time_limit_seconds;
  child.answer_limit = most_answer_bytes;
  return child;
}

struct Answer {
  std::string_view kind;
  std::string_view text;
};

Answer split_answer(std::string_view answer) {
  const std::size_t line_end = answer.find('\n');
  if (line_end == std::string_view::npos) return {};
  return {answer.substr(0, line_end), answer.substr(line_end + 1)};
}

struct Verdict {
  ExportStatus status;
  std::string message;
};

// A module that lies in the working directory is not found: a script there must not shadow a
// package. Empty where none lies there.
std::string hint_for_missing(const std::string& module) {
  const std::string first = module.substr(0, module.find('.'));
  for (const std::string& name : {first + ".py", first + "/__init__.py"}) {
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0) continue;
    return "; " + quoted(name) + " in the working directory is looked at with `PYTHONPATH=.`";
  }
  return {};
}

Verdict judge_answer(const Exporter& exporter, const std::string& python, const Answer& answer) {
  if (answer.kind == "missing") {
    const std::string module = first_line(answer.text);
    return {ExportStatus::package_missing,
            quoted(module) + " is not installed for " + quoted(python) + hint_for_missing(module)};
  }
  if (answer.kind == "failed") {
    return {ExportStatus::failed,
            "export of " + quoted(exporter.name) + " failed: " + first_line(answer.text)};
  }
  // The exporters end a manifest so; anything else was cut.
  if (answer.kind == "manifest" && answer.text.ends_with("}\n")) return {ExportStatus::ok, {}};
  return {ExportStatus::bad_answer, quoted(python) + " ended without a manifest"};
}

std::string in_seconds(double seconds) {
  std::ostringstream text;
  text << seconds << " s";
  return text.str();
}

Verdict judge(const Exporter& exporter, const ExportRequest& request, const std::string& python,
              const ChildResult& child) {
  switch (child.end) {
    case ChildEnd::not_started:
      return {ExportStatus::no_interpreter, quoted(python) + " cannot be started: " +
                                                std::generic_category().message(child.code)};
    case ChildEnd::timed_out:
      return {ExportStatus::timed_out, "no manifest from " + quoted(python) + " after " +
                                           in_seconds(request.time_limit_seconds)};
    case ChildEnd::answer_too_long:
      return {ExportStatus::bad_answer,
              "manifest of more than " + std::to_string(most_answer_bytes) + " bytes"};
    case ChildEnd::signalled:
      return {ExportStatus::failed, quoted(python) + " was ended by signal " +
                                        std::to_string(child.code) + " (" +
                                        ::strsignal(child.code) + ")"};
    case ChildEnd::exited:
      break;
  }
  if (child.code != 0) {
    return {ExportStatus::failed,
            quoted(python) + " ended with exit status " + std::to_string(child.code)};
  }
  return judge_answer(exporter, python, split_answer(child.answer));
}

}  // namespace

std::span<const Exporter> all_exporters() {
  static const std::array exporters{
      Exporter{"brainevent", "brainevent",
               "operators, kernels and rules of brainevent's registry, and its compilation cache",
               python_script("brainevent")},
      Exporter{
          "braintrace", "braintrace",
          "eligibility-trace primitives of braintrace and their rules; calls its functions that "
          "lay out trainable inputs",
          python_script("braintrace")},
      Exporter{"executorch", "executorch",
               "kernels that ExecuTorch's package declares, edge dtypes, and what its runtime has",
               python_script("executorch")},
      Exporter{.name = "jax",
               .package = "jax",
               .description =
                   "primitives, rules, lowerings and FFI targets of JAX and of packages on it",
               .script = python_script("jax"),
               .namespaces = true},
      Exporter{.name = "onnxruntime",
               .package = "onnxruntime",
               .description = "schemas and kernels of ONNX Runtime, by provider and version range, "
                              "and what libraries of custom operators add",
               .script = python_script("onnxruntime"),
               .custom_ops = true,
               .namespaces = true},
      Exporter{.name = "torch",
               .package = "torch",
               .description = "operators, dispatch keys and Python-defined operators of torch's "
                              "dispatcher, or what packages on it add",
               .script = python_script("torch"),
               .namespaces = true},
      Exporter{"tvm-ffi", "apache-tvm-ffi", "global functions of tvm-ffi and their signatures",
               python_script("tvm_ffi")},
  };
  return exporters;
}

std::string_view to_text(ExportStatus status) {
  switch (status) {
    case ExportStatus::ok:
      return "ok";
    case ExportStatus::package_missing:
      return "package missing";
    case ExportStatus::no_interpreter:
      return "no interpreter";
    case ExportStatus::failed:
      return "failed";
    case ExportStatus::timed_out:
      return "timed out";
    case ExportStatus::bad_answer:
      return "bad answer";
  }
  return {};
}

ExportOutcome run_exporter(const Exporter& exporter, const ExportRequest& request) {
  ExportOutcome outcome;
  const std::optional<std::string> python = find_python(request.python);
  if (!python) {
    outcome.status = ExportStatus::no_interpreter;
    outcome.message = no_python_message(request.python);
    return outcome;
  }
  ChildResult child;
  try {
    child = run_child(child_request(exporter, request, *python));
  } catch (const std::system_error& error) {
    outcome.message = quoted(*python) + " cannot be started: " + error.what();
    return outcome;
  }
  Verdict verdict = judge(exporter, request, *python, child);
  outcome.status = verdict.status;
  outcome.message = std::move(verdict.message);
  outcome.stderr_tail = std::move(child.output_tail);
  if (outcome.status == ExportStatus::ok) {
    child.answer.erase(0, child.answer.find('\n') + 1);
    outcome.manifest = std::move(child.answer);
  }
  return outcome;
}

}  // namespace opseal
