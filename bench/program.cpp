#include "bench/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>

extern char** environ;

namespace opseal::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::string read_all(int descriptor) {
  std::string output;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(descriptor, buffer, sizeof buffer)) > 0;) {
    output.append(buffer, static_cast<std::size_t>(got));
  }
  return output;
}

}  // namespace

std::optional<Cost> run_program(std::vector<std::string> command, Output output) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (output == Output::kept && ::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == Output::dropped) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  } else if (output == Output::kept) {
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  }
  const Clock::time_point start = Clock::now();
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (output == Output::kept) ::close(ends[1]);
  Cost cost;
  if (output == Output::kept) {
    if (failed == 0) cost.output = read_all(ends[0]);
    ::close(ends[0]);
  }
  if (failed != 0) return std::nullopt;
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  if (status != 0) throw std::runtime_error("`" + command[0] + "` failed");
  cost.wall = std::chrono::duration<double>(Clock::now() - start).count();
  cost.processor = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  cost.peak = static_cast<double>(usage.ru_maxrss) * 1024;
  return cost;
}

std::optional<Cost> run_program_often(const std::vector<std::string>& command, int times) {
  std::optional<Cost> least;
  for (int i = 0; i < times; ++i) {
    const std::optional<Cost> cost = run_program(command, Output::dropped);
    if (!cost) return std::nullopt;
    if (!least) least = cost;
    least->wall = std::min(least->wall, cost->wall);
    least->processor = std::min(least->processor, cost->processor);
    least->peak = std::max(least->peak, cost->peak);
  }
  return least;
}

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace opseal::bench
