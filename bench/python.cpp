// How long it takes to read what Python sources register, and how many registrations of each kind
// they hold. With `--list` first, one line for each instead: file, line, kind, what was called,
// apart by tabs, which `bench/python_oracle.py` holds against Python's own parser. Arguments are
// Python files; without any, their names are read from the standard input, one a line.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/input_error.h"
#include "analyzers/mapped_file.h"
#include "analyzers/python/registrations.h"

namespace opseal::bench {
namespace {

struct Sum {
  std::map<std::string_view, std::size_t> kinds;
  // Bytes.
  std::size_t size = 0;
  std::size_t parsed = 0;
  std::size_t problems = 0;
};

void list(const std::string& path, std::string_view text, const PythonRegistrations& found) {
  std::size_t line = 1;
  std::size_t at = 0;
  for (const PythonRegistration& one : found.registrations) {
    // In the order of the text, but for a call within a call.
    if (one.place.offset < at) {
      line = 1;
      at = 0;
    }
    const std::string_view between = text.substr(at, one.place.offset - at);
    line += static_cast<std::size_t>(std::count(between.begin(), between.end(), '\n'));
    at = one.place.offset;
    std::printf("%s\t%zu\t%s\t%s\n", path.c_str(), line, std::string(to_text(one.kind)).c_str(),
                one.how.c_str());
  }
}

void read(const std::string& path, bool listing, Sum& sum) {
  const MappedFile file(path);
  const std::string_view text = file.bytes();
  sum.size += text.size();
  if (!may_hold_registrations(text)) return;
  sum.parsed += text.size();
  try {
    const PythonRegistrations found = find_python_registrations(text);
    sum.problems += found.problems.size();
    for (const PythonRegistration& one : found.registrations) ++sum.kinds[to_text(one.kind)];
    if (listing) list(path, text, found);
  } catch (const InputError& error) {
    ++sum.problems;
    std::fprintf(stderr, "%s: %s\n", path.c_str(), error.what());
  }
}

int run(std::vector<std::string> paths) {
  const bool listing = !paths.empty() && paths[0] == "--list";
  if (listing) paths.erase(paths.begin());
  if (paths.empty()) {
    for (std::string line; std::getline(std::cin, line);) paths.push_back(line);
  }
  Sum sum;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  for (const std::string& path : paths) read(path, listing, sum);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (listing) return 0;
  for (const auto& [kind, count] : sum.kinds) {
    std::printf("%-20s %zu\n", std::string(kind).c_str(), count);
  }
  std::printf("%zu files, %.1f MB, of which %.1f MB were parsed, in %.3f s; %zu problems\n",
              paths.size(), static_cast<double>(sum.size) * 1e-6,
              static_cast<double>(sum.parsed) * 1e-6, took.count(), sum.problems);
  return 0;
}

}  // namespace
}  // namespace opseal::bench

int main(int count, char** arguments) {
  try {
    return opseal::bench::run(std::vector<std::string>(arguments + 1, arguments + count));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_python: %s\n", error.what());
    return 1;
  }
}
