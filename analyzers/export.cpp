#include "analyzers/export.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "analyzers/export/scripts.h"
#include "analyzers/export_child.h"

namespace opseal {
namespace {

constexpr std::size_t most_answer_bytes = std::size_t{1} << 30;
constexpr std::string_view bootstrap_name = "bootstrap";

// The scripts import each other under names with this in front, which no package has.
constexpr std::string_view module_prefix = "_opseal_";

std::string_view script_text(std::string_view name) {
  const auto scripts = embedded_scripts();
  const auto found = std::ranges::find(scripts, name, &EmbeddedScript::name);
  return found == scripts.end() ? std::string_view{} : found->text;
}

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

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::optional<std::string> find_on_path(const std::string& name) {
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    // An empty part of PATH means the working directory; an interpreter lying there is no choice.
    const std::string path = folder + "/" + name;
    if (!folder.empty() && is_program(path)) return path;
  }
  return std::nullopt;
}

// The path as the user would write it: a virtual environment is known by its link, not by its
// target.
std::optional<std::string> find_interpreter(const std::string& wanted) {
  if (wanted.find('/') != std::string::npos) {
    return is_program(wanted) ? std::optional(wanted) : std::nullopt;
  }
  if (!wanted.empty()) return find_on_path(wanted);
  const std::string active = environment("VIRTUAL_ENV");
  if (!active.empty() && is_program(active + "/bin/python")) return active + "/bin/python";
  return find_on_path("python3");
}

std::string no_interpreter_message(const std::string& wanted) {
  if (wanted.find('/') != std::string::npos) return quoted(wanted) + " is no executable file";
  return quoted(wanted.empty() ? "python3" : wanted) + " is not on `PATH`";
}

// The frames that `bootstrap.py` reads: `MODULE LENGTH`, a line break, the text.
std::string framed_scripts() {
  std::string frames;
  for (const EmbeddedScript& script : embedded_scripts()) {
    if (script.name == bootstrap_name) continue;
    frames += std::string(module_prefix) + std::string(script.name) + " " +
              std::to_string(script.text.size()) + "\n";
    frames += script.text;
  }
  return frames;
}

ChildRequest child_request(const Exporter& exporter, const ExportRequest& request,
                           const std::string& python) {
  ChildRequest child;
  child.program = python;
  // -B: nothing of what is imported may leave bytecode beside the sources that are audited.
  child.arguments = {"-B", "-c", std::string(script_text(bootstrap_name)),
                     std::string(exporter.name), request.tool_version};
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
  child.input = framed_scripts();
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
               script_text("brainevent")},
      Exporter{
          "braintrace", "braintrace",
          "eligibility-trace primitives of braintrace and their rules; calls its functions that "
          "lay out trainable inputs",
          script_text("braintrace")},
      Exporter{"executorch", "executorch",
               "kernels that ExecuTorch's package declares, edge dtypes, and what its runtime has",
               script_text("executorch")},
      Exporter{.name = "jax",
               .package = "jax",
               .description =
                   "primitives, rules, lowerings and FFI targets of JAX and of packages on it",
               .script = script_text("jax"),
               .namespaces = true},
      Exporter{.name = "onnxruntime",
               .package = "onnxruntime",
               .description = "schemas and kernels of ONNX Runtime, by provider and version range, "
                              "and what libraries of custom operators add",
               .script = script_text("onnxruntime"),
               .custom_ops = true,
               .namespaces = true},
      Exporter{.name = "torch",
               .package = "torch",
               .description = "operators, dispatch keys and Python-defined operators of torch's "
                              "dispatcher, or what packages on it add",
               .script = script_text("torch"),
               .namespaces = true},
      Exporter{"tvm-ffi", "apache-tvm-ffi", "global functions of tvm-ffi and their signatures",
               script_text("tvm_ffi")},
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
  const std::optional<std::string> python = find_interpreter(request.python);
  if (!python) {
    outcome.status = ExportStatus::no_interpreter;
    outcome.message = no_interpreter_message(request.python);
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
