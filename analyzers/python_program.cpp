#include "analyzers/python_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "analyzers/export/scripts.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::string_view bootstrap_name = "bootstrap";

// The scripts import each other under names with this in front, which no package has.
constexpr std::string_view module_prefix = "_opseal_";

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

}  // namespace

std::optional<std::string> find_python(const std::string& wanted) {
  if (wanted.find('/') != std::string::npos) {
    return is_program(wanted) ? std::optional(wanted) : std::nullopt;
  }
  if (!wanted.empty()) return find_on_path(wanted);
  const std::string active = environment("VIRTUAL_ENV");
  if (!active.empty() && is_program(active + "/bin/python")) return active + "/bin/python";
  return find_on_path("python3");
}

std::string no_python_message(const std::string& wanted) {
  if (wanted.find('/') != std::string::npos) return quote(wanted) + " is no executable file";
  return quote(wanted.empty() ? "python3" : wanted) + " is not on `PATH`";
}

std::string_view python_script(std::string_view name) {
  const auto scripts = embedded_scripts();
  const auto found = std::ranges::find(scripts, name, &EmbeddedScript::name);
  return found == scripts.end() ? std::string_view{} : found->text;
}

std::string_view python_bootstrap() { return python_script(bootstrap_name); }

std::string framed_python_scripts() {
  std::string frames;
  for (const EmbeddedScript& script : embedded_scripts()) {
    if (script.name == bootstrap_name) continue;
    frames += std::string(module_prefix) + std::string(script.name) + " " +
              std::to_string(script.text.size()) + "\n";
    frames += script.text;
  }
  return frames;
}

}  // namespace opseal
