#include "rules/package_platform.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "opseal/ascii.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/library_groups.h"

namespace opseal {
namespace {

// Beginnings of the names of libraries of CUDA and ROCm, and of frameworks' parts for them.
constexpr std::array<std::string_view, 12> device_libraries = {
    "libcu",   "libnv",     "libamd",     "libhip",        "libroc",       "libmiopen",
    "librccl", "libc10_cu", "libc10_hip", "libtorch_cuda", "libtorch_hip", "libjax"};

// Beginnings of symbols of their interfaces, and of the loader's, by which everything can be had.
constexpr std::array<std::string_view, 9> device_symbols = {
    "cu", "hip", "nv", "roc", "dlopen", "dlmopen", "_ZN3c104cuda", "_ZN2at4cuda", "_ZN3c103hip"};

// Packages that compile or bring device code.
constexpr std::array<std::string_view, 16> compilers = {
    "triton", "numba",    "cupy",   "pycuda",   "cuda-",      "warp",    "tilelang", "nvidia-",
    "jax",    "tensorrt", "taichi", "pytriton", "apache-tvm", "cutlass", "rocm",     "quack"};

// Sources and binaries of device code among a package's files.
constexpr std::array<std::string_view, 7> device_files = {".cu",     ".cuh",   ".ptx", ".cubin",
                                                          ".fatbin", ".hsaco", ".hip"};

template <typename List>
bool begins_with_any(std::string_view text, const List& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](std::string_view start) { return text.starts_with(start); });
}

// Where the word ends a name (`ops-cu12`, `ops_cuda12x`) or begins a version's label (`1.0+cu121`):
// digits, and an `x` for any minor version. Empty where it doesn't.
bool is_mark(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  const std::string_view rest = text.substr(digits);
  // `cu` alone is no word.
  if (digits == 0 && word == "cu") return false;
  return rest.empty() || rest == "x" || rest[0] == '.' || rest.starts_with("torch") ||
         rest.starts_with("pt");
}

struct MarkWord {
  std::string_view word;
  std::string_view platform;
};
constexpr std::array<MarkWord, 3> mark_words = {
    {{"cu", "CUDA"}, {"cuda", "CUDA"}, {"rocm", "ROCm"}}};

// The platform by the last word of a package's name in lower case; empty where it is none.
std::string_view mark_of_name(std::string_view name) {
  const std::size_t part = name.find_last_of("-_");
  if (part == name.npos) return {};
  for (const auto& [word, platform] : mark_words) {
    if (is_mark(name.substr(part + 1), word)) return platform;
  }
  return {};
}

// What a package says by its name that it is for: where, and the platform.
struct Declared {
  Fact where;
  std::string_view platform;
};

Declared declared_by_name(const Fact& distribution) {
  const std::string name = lower(distribution[Key::name].text());
  const std::string version = lower(distribution[Key::version].text());
  const std::size_t label = version.find('+');
  for (const auto& [word, platform] : mark_words) {
    if (label != version.npos && is_mark(std::string_view(version).substr(label + 1), word)) {
      return {distribution[Key::version], platform};
    }
  }
  const std::string_view platform = mark_of_name(name);
  return platform.empty() ? Declared() : Declared{distribution[Key::name], platform};
}

Declared declared_by_manifest(const Fact& manifest) {
  // What is registered tells more, and other parts of the rule judge by it.
  if (manifest[Key::operators].size() > 0 || manifest[Key::targets].size() > 0) return {};
  PlatformNames names(manifest);
  for (const Fact platform : manifest[Key::platforms].items()) {
    if (!platform.is_text()) continue;
    const Platform known = names.of(platform);
    if (known.hardware == "cuda" || known.hardware == "rocm") return {platform, platform.text()};
  }
  return {};
}

// `libucx-cu12<1.19` -> `libucx-cu12`.
std::string_view requirement_name(std::string_view requirement) {
  const std::size_t end = requirement.find_first_of(" <>=!~;[(");
  return requirement.substr(0, end);
}

// Another package may bring the code, or compile it when it is needed; or the package is itself one
// of the compilers, whose own code is for the host.
bool may_come_from_elsewhere(const Fact& distribution, std::string_view platform) {
  if (begins_with_any(lower(distribution[Key::name].text()), compilers)) return true;
  for (const Fact requirement : distribution[Key::requires_].items()) {
    const std::string text = lower(requirement.text());
    if (begins_with_any(text, compilers)) return true;
    // Bindings (`ucx-py-cu12`) need what they bind (`libucx-cu12<1.19`).
    if (mark_of_name(requirement_name(text)) == platform) return true;
    // Parts of one release name each other.
    if (text.find("==" + lower(distribution[Key::version].text())) != text.npos) return true;
  }
  for (const Fact file : distribution[Key::files].items()) {
    const std::string_view path = file[Key::path].text();
    for (const std::string_view ending : device_files) {
      if (path.ends_with(ending)) return true;
    }
  }
  return false;
}

// The library was read, and holds no code for a device, nor a way to one.
bool reaches_no_device(const Fact& content) {
  const Fact images = content[Key::images];
  const Fact needed = content[Key::needed];
  const Fact imports = content[Key::imports];
  if (!images.is_list() || images.size() > 0 || content[Key::bundles].size() > 0) return false;
  if (!needed.is_list() || !all_read(needed) || !imports.is_list()) return false;
  for (const Fact soname : needed.items()) {
    if (begins_with_any(lower(soname.text()), device_libraries)) return false;
  }
  for (const Fact symbol : imports.items()) {
    if (!symbol[Key::name].is_text()) return false;
    if (begins_with_any(symbol[Key::name].text(), device_symbols)) return false;
  }
  for (const Fact registrar : content[Key::registrars].items()) {
    const std::string platform = lower(registrar[Key::platform].text());
    if (platform.find("cuda") != platform.npos || platform.find("hip") != platform.npos) {
      return false;
    }
  }
  return true;
}

void judge(const LibraryGroup& group, Sink& sink) {
  const Fact manifest = group.front().manifest;
  const Fact distribution = manifest[Key::distribution];
  Declared declared = declared_by_name(distribution);
  if (!declared.where.said()) declared = declared_by_manifest(manifest);
  if (!declared.where.said() || may_come_from_elsewhere(distribution, declared.platform)) return;
  std::size_t shared = 0;
  for (const PlacedLibrary& one : group) {
    if (one.content[Key::type].is("shared") || !one.content[Key::type].said()) ++shared;
  }
  if (shared == 0) return;
  sink.inspected();
  const bool none = std::all_of(group.begin(), group.end(), [](const PlacedLibrary& one) {
    return reaches_no_device(one.content);
  });
  if (!none) return;
  const std::string subject = distribution[Key::name].is_text()
                                  ? "package " + std::string(distribution[Key::name].text())
                                  : std::string(declared.platform);
  Finding& finding = sink.add(
      subject,
      quote(declared.where.text()) + " declares " + std::string(declared.platform) + ", and " +
          (group.size() == 1
               ? std::string("its library holds")
               : "all of its " + plural(group.size(), "library", "libraries") + " hold") +
          " 0 device images, no registration for it and no use of its runtime",
      evidence(declared.where, "declared here"));
  for (std::size_t at = 0; at < std::min<std::size_t>(group.size(), 4); ++at) {
    finding.related.push_back(
        evidence(group[at].content[Key::images], "device code of the file listed here"));
  }
  // Operators that are put together from a framework's own run on every device.
  finding.severity = Severity::warning;
  finding.fix =
      "build the package where the compiler for the device is found, or name it otherwise";
}

}  // namespace

void check_package_platform(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  for (const LibraryGroup& group : library_groups(libraries)) judge(group, sink);
}

}  // namespace opseal
