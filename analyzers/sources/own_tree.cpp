#include <algorithm>
#include <array>

#include "analyzers/source/source_tree.h"
#include "analyzers/sources/load.h"

namespace opseal {
namespace {

constexpr std::array<std::string_view, 18> asides{
    "bench",    "benchmark", "benchmarks", "doc",       "docs",    "example",
    "examples", "sample",    "samples",    "test",      "testing", "tests",
    "tutorial", "tutorials", "unittest",   "unittests", "tools",   "scripts"};
// Each folder in them is another project.
constexpr std::array<std::string_view, 9> vendors{"3rdparty",    "deps",       "external",
                                                  "extern",      "submodules", "third-party",
                                                  "third_party", "thirdparty", "vendor"};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// `test_x.py`, `x_test.py`, `conftest.py`; sources in C++ so named are often part of a build.
bool is_test_file(std::string_view name) {
  if (!name.ends_with(".py")) return false;
  const std::string_view stem = name.substr(0, name.size() - 3);
  return stem.starts_with("test_") || stem.ends_with("_test") || stem == "conftest";
}

}  // namespace

bool is_source(std::string_view path) { return path.ends_with(".py") || is_source_path(path); }

std::string own_tree_of(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t slash = path.find('/', at);
    if (slash == path.npos) break;
    const std::string_view part = path.substr(at, slash - at);
    if (is_one_of(part, asides)) return std::string(path.substr(0, slash));
    if (is_one_of(part, vendors)) {
      return std::string(path.substr(0, std::min(path.find('/', slash + 1), path.size())));
    }
    at = slash + 1;
  }
  const std::size_t slash = path.rfind('/');
  return is_test_file(slash == path.npos ? path : path.substr(slash + 1)) ? std::string(path)
                                                                          : std::string();
}

}  // namespace opseal
