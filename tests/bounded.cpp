#include "tests/bounded.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/analyzers.h"
#include "analyzers/byte_source.h"
#include "opseal/text.h"
#include "rules/rules.h"
#include "tests/memory_input.h"

namespace opseal::test {
namespace {

// g++ says it by a macro, clang++ by a question.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool measures_memory = false;
#else
constexpr bool measures_memory = true;
#endif

// Of this process, in bytes.
std::uint64_t status_of(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024;
  }
  return 0;
}

[[noreturn]] void work_in_child(const std::function<std::string()>& work, unsigned seconds,
                                int to) {
  const rlimit time = {seconds, seconds + 1};
  ::setrlimit(RLIMIT_CPU, &time);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const std::uint64_t before = status_of("VmRSS:");
  std::string answer;
  try {
    answer = work();
  } catch (const std::exception& error) {
    answer = std::string("thrown: ") + error.what();
  }
  const std::uint64_t peak = status_of("VmHWM:");
  answer = std::to_string(peak > before ? peak - before : 0) + ' ' + answer;
  for (std::size_t at = 0; at < answer.size();) {
    const ssize_t put = ::write(to, answer.data() + at, answer.size() - at);
    if (put <= 0) break;
    at += static_cast<std::size_t>(put);
  }
  // Without what runs at the end of a program, which belongs to the parent.
  ::_exit(0);
}

}  // namespace

Taken run_bounded(const std::function<std::string()>& work, unsigned seconds) {
  Taken taken;
  int ends[2];
  if (::pipe(ends) != 0) return {"no pipe", {}, 0, 0};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    work_in_child(work, seconds, ends[1]);
  }
  ::close(ends[1]);
  const std::string said = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child) return {"no child", {}, 0, 0};
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  taken.processor = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  if (WIFSIGNALED(status)) taken.broken = "signal " + std::to_string(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    taken.broken = "exit code " + std::to_string(WEXITSTATUS(status));
  }
  const std::size_t space = said.find(' ');
  if (taken.broken.empty() && space == std::string::npos) taken.broken = "no answer";
  if (space == std::string::npos) return taken;
  if (measures_memory) taken.memory = std::strtoull(said.c_str(), nullptr, 10);
  taken.answer = said.substr(space + 1);
  return taken;
}

std::string outcome_of_file(const std::string& bytes, const std::string& name) {
  InputFile input = memory_input(bytes, name);
  std::string error;
  const Analyzer* analyzer = find_analyzer(input, error);
  if (analyzer == nullptr) return "no input\n";
  const Facts facts = load_file(*analyzer, std::move(input));
  std::set<std::string> told;
  for (const Problem& problem : facts.problems) {
    if (problem.severity == Severity::error) told.insert(problem.message);
  }
  std::string outcome;
  for (const std::string& message : told) outcome += message + '\n';
  std::size_t libraries = 0;
  for (const Document& document : facts.documents) {
    libraries += facts.root(document)[Key::libraries].size();
  }
  std::vector<Finding> findings;
  run_rules(all_rules(), facts, 1, findings);
  return outcome + plural(told.size(), "problem") + ", " +
         plural(libraries, "library", "libraries") + '\n';
}

std::string read_within(const std::string& bytes, const std::string& name, std::uint64_t memory) {
  const Taken taken = run_bounded([&] { return outcome_of_file(bytes, name); });
  INFO("took " << taken.processor << " s and " << taken.memory << " bytes; said "
               << taken.answer.substr(0, 2000));
  CHECK(taken.broken == "");
  CHECK(!taken.answer.starts_with("thrown"));
  CHECK(taken.memory <= memory);
  return taken.answer;
}

}  // namespace opseal::test
