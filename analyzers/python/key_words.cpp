#include "analyzers/python/key_words.h"

#include <algorithm>
#include <vector>

#include "opseal/text.h"

namespace opseal {
namespace {

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  std::string part;
  for (const char byte : name) {
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    const bool digit = byte >= '0' && byte <= '9';
    if (letter || digit) {
      part += byte;
    } else if (!part.empty()) {
      parts.push_back(lower(part));
      part.clear();
    }
  }
  if (!part.empty()) parts.push_back(lower(part));
  return parts;
}

struct NamedInput {
  std::string_view part;
  std::string_view input;
};

// The first row of which the name has the part: what narrows down comes before what is general
// (`source_headers`, `kernel_flags`, `arch_flags`).
constexpr NamedInput named_inputs[] = {
    {"header", "headers"},
    {"headers", "headers"},
    {"ldflags", "link_flags"},
    {"ldflag", "link_flags"},
    {"linker", "link_flags"},
    {"libraries", "link_flags"},
    {"include", "include_paths"},
    {"includes", "include_paths"},
    {"arch", "architecture"},
    {"archs", "architecture"},
    {"arches", "architecture"},
    {"architecture", "architecture"},
    {"architectures", "architecture"},
    {"capability", "architecture"},
    {"gencode", "architecture"},
    {"sm", "architecture"},
    {"gfx", "architecture"},
    {"flags", "flags"},
    {"flag", "flags"},
    {"cflags", "flags"},
    {"cppflags", "flags"},
    {"cxxflags", "flags"},
    {"defines", "flags"},
    {"macros", "flags"},
    {"opts", "flags"},
    {"options", "options"},
    {"nvcc", "compiler"},
    {"hipcc", "compiler"},
    {"compiler", "compiler"},
    {"cxx", "compiler"},
    {"gcc", "compiler"},
    {"clang", "compiler"},
    {"dtype", "dtypes"},
    {"dtypes", "dtypes"},
    {"spec", "specs"},
    {"specs", "specs"},
    {"signature", "specs"},
    {"signatures", "specs"},
    {"source", "source"},
    {"sources", "source"},
    {"src", "source"},
    {"srcs", "source"},
    {"code", "source"},
    {"program", "source"},
    {"kernel", "source"},
    {"kernels", "source"},
};

constexpr std::string_view passive_parts[] = {
    "handle",    "stream",  "logger",   "log",      "verbose",   "verbosity", "quiet",    "timeout",
    "jobs",      "workers", "threads",  "dir",      "directory", "dirs",      "cwd",      "output",
    "out",       "outdir",  "root",     "cache",    "tmp",       "temp",      "lock",     "tmpdir",
    "dest",      "dst",     "target",   "home",     "name",      "names",     "force",    "rebuild",
    "workspace", "device",  "path",     "file",     "filename",  "build",     "parallel", "ninja",
    "ccache",    "dryrun",  "callback", "progress", "retries",   "executor",  "toolkit",  "prefix",
    "folder",    "base",
};

bool has(const std::vector<std::string>& parts, std::string_view word) {
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

// Of something called `version`: whose.
std::string_view version_word(const std::vector<std::string>& parts) {
  for (const std::string_view one : {"nvcc", "compiler", "cuda", "hip", "rocm", "toolkit", "gcc"}) {
    if (has(parts, one)) return "compiler_version";
  }
  if (has(parts, "torch") || has(parts, "jax") || has(parts, "jaxlib")) return "framework_version";
  if (has(parts, "driver")) return "driver";
  if (has(parts, "sys") || has(parts, "python")) return "python_abi";
  return "package_version";
}

}  // namespace

bool is_input_word(std::string_view word) {
  constexpr std::string_view words[] = {
      "source",          "specs",      "headers",          "architecture",
      "compiler",        "flags",      "compiler_version", "link_flags",
      "include_paths",   "dtypes",     "package_version",  "framework_version",
      "runtime_version", "attributes", "environment",      "driver",
      "operator_schema", "python_abi", "options"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

std::string plain_name(std::string_view name) {
  for (const std::string_view object : {"self.", "cls."}) {
    if (name.starts_with(object)) name.remove_prefix(object.size());
  }
  // `__version__` is called so by everybody; the `_` in front of other names says whose they are. A
  // program that is looked for by its name stands in quotation marks.
  const bool special = name.starts_with("__") && name.find("__", 2) != name.npos;
  while (name.size() > 1 &&
         ((name.front() == '_' && !special) || name.front() == '"' || name.front() == '\'')) {
    name.remove_prefix(1);
  }
  while (name.size() > 1 && (name.back() == '"' || name.back() == '\'')) name.remove_suffix(1);
  return std::string(name);
}

std::string_view input_word(const FlowRoot& root) {
  if (root.kind == FlowRoot::Kind::environment) return "environment";
  if (root.kind == FlowRoot::Kind::compiler_version) return "compiler_version";
  const std::vector<std::string> parts = parts_of(root.name);
  if (has(parts, "version")) return version_word(parts);
  for (const NamedInput& row : named_inputs) {
    if (has(parts, row.part)) return row.input;
  }
  // Files that are read byte for byte and aren't called anything else are what is built.
  return root.form == FlowForm::content ? "source" : "";
}

bool leaves_build_alone(const FlowRoot& root) {
  const std::string_view word = input_word(root);
  if (word == "compiler") return true;
  const std::vector<std::string> parts = parts_of(root.name);
  const bool upper_home = root.kind == FlowRoot::Kind::environment &&
                          (has(parts, "path") || has(parts, "cc") || parts.empty());
  if (upper_home) return true;
  // `get_device_capability` is about more than the device.
  if (word == "include_paths" || word == "flags" || word == "link_flags" || word == "architecture")
    return false;
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    for (const std::string_view end : {"dir", "path", "file", "folder", "name"}) {
      if (part.ends_with(end)) return true;
    }
    return std::find(std::begin(passive_parts), std::end(passive_parts), part) !=
           std::end(passive_parts);
  });
}

}  // namespace opseal
