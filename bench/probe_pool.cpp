// How many questions a pool of children answers in a second where the answer itself costs nothing:
// what a probe costs over what it probes. And how many children in a second, one for each question.
// Arguments: `[QUESTIONS [CHILDREN]]`.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/child.h"
#include "analyzers/probe/pool.h"

namespace opseal::bench {
namespace {

std::string echo(std::string_view question) { return std::string(question); }

void measure(const char* what, const PoolOptions& options, const PoolRequest& request,
             std::size_t count) {
  const std::vector<PoolRequest> requests(count, request);
  std::vector<double> seconds;
  std::size_t answered = 0;
  const auto start = std::chrono::steady_clock::now();
  const PoolReport report =
      run_pool(options, requests, [&](std::size_t, const PoolOutcome& outcome) {
        answered += outcome.end == PoolEnd::answered ? 1 : 0;
        seconds.push_back(outcome.seconds);
      });
  const double all =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::sort(seconds.begin(), seconds.end());
  std::printf("%s: %.0f a second (%zu of %zu answered by %zu children in %.3f s; median %.1f us)\n",
              what, static_cast<double>(count) / all, answered, count, report.children_started, all,
              seconds[seconds.size() / 2] * 1e6);
  for (const std::string& lack : report.lacks) std::printf("  lacks: %s\n", lack.c_str());
}

int run(const std::vector<std::string>& arguments) {
  PoolOptions options;
  options.program = std::filesystem::read_symlink("/proc/self/exe").string();
  options.arguments = {std::string(probe_child_argument)};
  const std::size_t count = arguments.empty() ? 200000 : std::stoul(arguments[0]);
  if (arguments.size() > 1) options.workers = static_cast<unsigned>(std::stoul(arguments[1]));
  if (count == 0) return 2;
  PoolRequest request{"a question of some forty bytes, no more"};
  measure("questions", options, request, count);
  request.alone = true;
  measure("questions, each alone", options, request, std::max<std::size_t>(count / 200, 1));
  return 0;
}

}  // namespace
}  // namespace opseal::bench

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == opseal::probe_child_argument) {
    return opseal::run_probe_child(opseal::bench::echo);
  }
  try {
    return opseal::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
