// How long the exports and imports of a library take, with versions, beside `nm -D` and `readelf`
// on the same file: each prints them all, into nothing. Every run is a process of its own, so that
// starting it and its peak memory count for everybody alike; the program starts itself again as
// `bench_symbols --run FILE`. Arguments are libraries.

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyzers/input_error.h"
#include "analyzers/mapped_file.h"
#include "analyzers/native/elf.h"

extern char** environ;

namespace opseal::bench {
namespace {

using Clock = std::chrono::steady_clock;

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

struct Cost {
  // Seconds on the wall and of the processor, and bytes; the least of several runs.
  double wall = 1e9;
  double processor = 1e9;
  double peak = 0;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// What a program costs that prints into nothing, or into our output; false where it isn't there.
bool run(std::vector<std::string> command, bool quiet, Cost& cost) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  const Clock::time_point start = Clock::now();
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  if (status != 0) throw std::runtime_error("`" + command[0] + "` failed");
  cost.wall = std::min(cost.wall, std::chrono::duration<double>(Clock::now() - start).count());
  cost.processor = std::min(cost.processor, seconds(usage.ru_utime) + seconds(usage.ru_stime));
  cost.peak = std::max(cost.peak, static_cast<double>(usage.ru_maxrss) * 1024);
  return true;
}

// Reads nothing itself: a child's peak is at least what its parent held.
void compare(const std::string& path) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  Cost of_counting;
  run({self, "--count", path}, false, of_counting);
  const std::vector<std::pair<const char*, std::vector<std::string>>> programs = {
      {"opseal", {self, "--run", path}},
      {"nm -D", {"nm", "-D", path}},
      {"readelf", {"readelf", "--wide", "--dyn-syms", path}}};
  for (const auto& [name, command] : programs) {
    Cost cost;
    bool here = true;
    for (int i = 0; i < runs_of_each && here; ++i) here = run(command, true, cost);
    if (!here) {
      std::printf("  %-8s not here\n", name);
      continue;
    }
    std::printf("  %-8s %8.2f ms, processor %8.2f ms, peak %6.1f MiB\n", name, cost.wall * 1e3,
                cost.processor * 1e3, cost.peak / 1048576);
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
