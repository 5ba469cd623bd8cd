// How long the exports and imports of a library take, with versions, beside `nm -D` and `readelf`
// on the same file: each prints them all, into nothing. Every run is a process of its own, so that
// starting it and its peak memory count for everybody alike; the program starts itself again as
// `bench_symbols --run FILE`. Arguments are libraries.

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/mapped_file.h"
#include "analyzers/native/elf.h"
#include "bench/program.h"

namespace opseal::bench {
namespace {

constexpr int runs_of_each = 7;

int count_symbols(const std::string& path) {
  const MappedFile file(path);
  const Elf elf{Bytes(file.bytes())};
  const std::vector<ElfSymbol> symbols = elf.dynamic_symbols();
  const auto exports = std::count_if(symbols.begin(), symbols.end(),
                                     [](const ElfSymbol& symbol) { return symbol.is_export(); });
  std::printf("%s: %.1f MB, %zu symbols, %td exports\n", path.c_str(),
              static_cast<double>(file.bytes().size()) * 1e-6, symbols.size(), exports);
  return 0;
}

int run_child(const std::string& path) {
  const MappedFile file(path);
  const Elf elf{Bytes(file.bytes())};
  std::string text;
  for (const ElfSymbol& symbol : elf.dynamic_symbols()) {
    text += symbol.is_defined() ? symbol.is_weak() ? "W " : "T " : "U ";
    text += symbol.name;
    if (!symbol.version.empty()) {
      text += '@';
      text += symbol.version;
    }
    text += '\n';
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

// Reads nothing itself: a child's peak is at least what its parent held.
void compare(const std::string& path) {
  const std::string self = own_path();
  run_program({self, "--count", path}, Output::shown);
  const std::vector<std::pair<const char*, std::vector<std::string>>> programs = {
      {"opseal", {self, "--run", path}},
      {"nm -D", {"nm", "-D", path}},
      {"readelf", {"readelf", "--wide", "--dyn-syms", path}}};
  for (const auto& [name, command] : programs) {
    const std::optional<Cost> cost = run_program_often(command, runs_of_each);
    if (!cost) {
      std::printf("  %-8s not here\n", name);
      continue;
    }
    std::printf("  %-8s %8.2f ms, processor %8.2f ms, peak %6.1f MiB\n", name, cost->wall * 1e3,
                cost->processor * 1e3, cost->peak / 1048576);
  }
}

}  // namespace
}  // namespace opseal::bench

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() == 2 && words[0] == "--count") return opseal::bench::count_symbols(words[1]);
    if (words.size() == 2 && words[0] == "--run") return opseal::bench::run_child(words[1]);
    // Children print, too.
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    for (const std::string& path : words) opseal::bench::compare(path);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_symbols: %s\n", error.what());
    return 1;
  }
  return words.empty() ? 2 : 0;
}
