// How long an audit of a large manifest takes and how much memory, beside nlohmann's parser on the
// same file. Each run is a process of its own, so that its peak memory is its own: the program
// starts itself again as `bench_manifest --run WHAT FILE`. Arguments are numbers of registrations;
// with `--rules` each rule's time is printed; a file is read instead of a generated manifest.

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyzers/analyzers.h"
#include "bench/generate.h"
#include "cli/audit.h"
#include "cli/reports.h"
#include "rules/rules.h"

extern char** environ;

namespace fs = std::filesystem;

namespace opseal::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of this thread, which other programs of the machine disturb less than the time on the wall.
double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// ---- in the child: each returns what it measured, in seconds

std::vector<double> run_whole(const std::string& path) {
  const Clock::time_point start = Clock::now();
  Options options;
  options.paths = {path};
  options.profile = "audit";
  options.no_config = true;
  const Audit audit = run_audit(options);
  std::ostringstream report;
  write_text(audit, {}, report);
  const double total = seconds_since(start);
  if (!audit.facts.problems.empty() || audit.inputs != 1) throw std::runtime_error(report.str());
  return {total, static_cast<double>(audit.findings.size())};
}

std::vector<double> run_split(const std::string& path) {
  InputFile input;
  input.path = input.open_path = path;
  input.size = fs::file_size(path);
  double start = processor_seconds();
  const Facts facts = load_file(all_analyzers().front(), std::move(input));
  const double reading = processor_seconds() - start;
  std::vector<double> times = {reading, static_cast<double>(facts.nodes.size()),
                               static_cast<double>(facts.names.size())};
  for (const Rule* rule : all_rules()) {
    std::vector<Finding> findings;
    start = processor_seconds();
    run_rule(*rule, facts, findings);
    times.push_back(processor_seconds() - start);
  }
  return times;
}

std::vector<double> run_peer(const std::string& path) {
  const Clock::time_point start = Clock::now();
  std::ifstream file(path, std::ios::binary);
  const nlohmann::json tree = nlohmann::json::parse(file);
  return {seconds_since(start), static_cast<double>(tree["operators"].size())};
}

int run_child(const std::string& what, const std::string& path) {
  const std::vector<double> values = what == "whole"   ? run_whole(path)
                                     : what == "split" ? run_split(path)
                                                       : run_peer(path);
  for (const double value : values) std::printf("%.9g\n", value);
  return 0;
}

// ---- in the parent

struct Run {
  std::vector<double> values;
  // Seconds of processor time, and bytes.
  double processor = 0;
  double peak = 0;
};

Run start(const std::string& what, const std::string& path) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::string self = fs::read_symlink("/proc/self/exe").string();
  std::string flag = "--run";
  std::string name = what;
  std::string file = path;
  char* arguments[] = {self.data(), flag.data(), name.data(), file.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, self.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) throw std::runtime_error("can't start myself");
  std::string output;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  if (status != 0) throw std::runtime_error("the run of " + what + " failed");
  Run run;
  std::istringstream words(output);
  for (double value = 0; words >> value;) run.values.push_back(value);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  run.processor = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  run.peak = static_cast<double>(usage.ru_maxrss) * 1024;
  return run;
}

struct Summary {
  double least = 0;
  double median = 0;
  double processor = 0;
  // The largest.
  double peak = 0;
  std::vector<Run> runs;
};

Summary repeat(const std::string& what, const std::string& path, int times) {
  Summary summary;
  std::vector<double> walls;
  std::vector<double> processors;
  for (int i = 0; i < times; ++i) {
    summary.runs.push_back(start(what, path));
    walls.push_back(summary.runs.back().values.at(0));
    processors.push_back(summary.runs.back().processor);
    summary.peak = std::max(summary.peak, summary.runs.back().peak);
  }
  std::sort(walls.begin(), walls.end());
  summary.least = walls.front();
  summary.median = walls[walls.size() / 2];
  summary.processor = *std::min_element(processors.begin(), processors.end());
  return summary;
}

// The slowest rules, or every one that takes a thousandth of them all.
void print_rules(const Summary& split, bool every_rule) {
  // The fastest time of each rule.
  std::vector<std::pair<double, std::string>> rules;
  double all = 0;
  for (std::size_t i = 0; i < all_rules().size(); ++i) {
    double least = 1e9;
    for (const Run& run : split.runs) least = std::min(least, run.values.at(3 + i));
    rules.emplace_back(least, all_rules()[i]->id);
    all += least;
  }
  std::sort(rules.rbegin(), rules.rend());
  std::printf("  processor time: reading %.2f ms, %zu rules %.2f ms; slowest rules:",
              split.least * 1e3, rules.size(), all * 1e3);
  if (every_rule) {
    for (const auto& [seconds, rule] : rules) {
      if (seconds * 1000 >= all) std::printf("\n    %8.2f ms %s", seconds * 1e3, rule.c_str());
    }
    std::printf("\n");
    return;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(5, rules.size()); ++i) {
    std::printf(" %s %.2f", rules[i].second.c_str(), rules[i].first * 1e3);
  }
  std::printf(" ms\n");
}

// Reading and rules of a file that somebody else wrote.
void measure_file(const std::string& path) {
  const Summary split = repeat("split", path, 5);
  std::printf("%s: %.0f facts, %.0f texts\n", path.c_str(), split.runs[0].values.at(1),
              split.runs[0].values.at(2));
  print_rules(split, true);
  std::fflush(stdout);
}

double measure(const std::string& folder, std::uint64_t registrations, int times, bool every_rule) {
  const std::string empty = folder + "/empty.json";
  const std::string path = folder + "/manifest.json";
  write_manifest(empty, 0);
  const auto bytes = static_cast<double>(write_manifest(path, registrations));
  const auto count = static_cast<double>(registrations);
  const Summary base = repeat("whole", empty, 5);
  const Summary whole = repeat("whole", path, times);
  const Summary split = repeat("split", path, std::max(3, times / 3));
  const Summary peer_base = repeat("peer", empty, 3);
  const Summary peer = repeat("peer", path, std::max(3, times / 3));
  std::printf("%llu registrations, %.1f MB, %.0f facts, %.0f texts\n",
              static_cast<unsigned long long>(registrations), bytes / 1e6,
              split.runs[0].values.at(1), split.runs[0].values.at(2));
  std::printf(
      "  audit    min %.2f ms, median %.2f ms of %d runs, processor %.2f ms; %.0f MB/s; %.0f "
      "findings\n",
      whole.least * 1e3, whole.median * 1e3, times, whole.processor * 1e3,
      bytes / 1e6 / whole.least, whole.runs[0].values.at(1));
  std::printf("  memory   %.1f MB more than an empty audit, %.0f bytes per registration\n",
              (whole.peak - base.peak) / 1e6, (whole.peak - base.peak) / count);
  print_rules(split, every_rule);
  std::printf("  nlohmann min %.2f ms, %.1f MB, %.0f bytes per registration (parse alone)\n",
              peer.least * 1e3, (peer.peak - peer_base.peak) / 1e6,
              (peer.peak - peer_base.peak) / count);
  std::fflush(stdout);
  return whole.least;
}

int run_all(int argc, char** argv) {
  std::vector<std::uint64_t> sizes;
  bool every_rule = false;
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--rules") {
      every_rule = true;
    } else if (argument.find_first_not_of("0123456789") != std::string::npos) {
      measure_file(argument);
      ++files;
    } else {
      sizes.push_back(std::strtoull(argv[i], nullptr, 10));
    }
  }
  if (files > 0) return 0;
  if (sizes.empty()) sizes = {3'000, 1'000'000};
  const fs::path folder =
      fs::temp_directory_path() / ("opseal-bench-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  std::printf("aims: 3,000 registrations in 5 ms; 1,000,000 in 1.5 s with 300 bytes for each\n");
  std::vector<double> times;
  for (const std::uint64_t size : sizes) {
    times.push_back(measure(folder.string(), size, size > 100'000 ? 5 : 21, every_rule));
  }
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const double exponent =
        std::log(times[i] / times[i - 1]) /
        std::log(static_cast<double>(sizes[i]) / static_cast<double>(sizes[i - 1]));
    std::printf("growth from %llu to %llu: exponent %.3f\n",
                static_cast<unsigned long long>(sizes[i - 1]),
                static_cast<unsigned long long>(sizes[i]), exponent);
  }
  fs::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace opseal::bench

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::string(argv[1]) == "--run")
      return opseal::bench::run_child(argv[2], argv[3]);
    return opseal::bench::run_all(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "bench_manifest: " << error.what() << '\n';
    return 1;
  }
}
