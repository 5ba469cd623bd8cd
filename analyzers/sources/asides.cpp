#include <algorithm>
#include <array>

#include "analyzers/source/source_tree.h"
#include "analyzers/sources/load.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::array<std::string_view, 29> asides{
    "3rd-party", "3rd_party", "3rdparty",    "bench",       "benchmark",  "benchmarks",
    "deps",      "doc",       "docs",        "example",     "examples",   "extern",
    "external",  "sample",    "samples",     "scripts",     "submodules", "test",
    "testing",   "tests",     "third-party", "third_party", "thirdparty", "tools",
    "tutorial",  "tutorials", "unittest",    "unittests",   "vendor"};

// `test_x.py`, `x_test.py`, `conftest.py`; sources in C++ so named are often part of a build.
bool is_test_file(std::string_view name) {
  if (!name.ends_with(".py")) return false;
  const std::string_view stem = name.substr(0, name.size() - 3);
  return stem.starts_with("test_") || stem.ends_with("_test") || stem == "conftest";
}

}  // namespace

bool is_source(std::string_view path) { return path.ends_with(".py") || is_source_path(path); }

bool is_aside(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t slash = path.find('/', at);
    if (slash == path.npos) return is_test_file(path.substr(at));
    if (is_one_of(path.substr(at, slash - at), asides)) return true;
    at = slash + 1;
  }
  return false;
}

}  // namespace opseal
