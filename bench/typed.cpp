// How long libclang takes for each file of the folders given, without headers, as the typed tier
// asks for it; and, where it is installed, how long clang-tidy takes for the same files with one
// trivial check and nothing to find the headers with. Arguments: `[--most FILES] [--tidy PROGRAM]
// PROGRAM FOLDER...`, where PROGRAM is opseal. `--built yes` measures instead those files that a
// `compile_commands.json` in the folder has a command for, with their headers: without a cache of
// precompiled headers, with one that is empty, and with what that one has then.

#include "analyzers/clang/typed.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "analyzers/clang/compile_commands.h"
#include "analyzers/clang/prelude.h"
#include "analyzers/source/source_tree.h"
#include "cli/process.h"

namespace opseal::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<std::string> sources_below(const std::string& folder) {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && is_source_path(path) && !is_header_path(path)) {
      paths.push_back(path);
    }
  }
  return paths;
}

int measure_built(const std::string& program, const std::string& folder, std::size_t most) {
  CompileCommands commands;
  commands.read_folder(folder);
  std::vector<TypedQuestion> questions;
  for (const std::string& path : sources_below(folder)) {
    TypedQuestion question;
    question.open_path = fs::absolute(path).lexically_normal().string();
    question.path = question.open_path;
    question.root = fs::absolute(folder).lexically_normal().string();
    question.flags = commands.flags_of(question.open_path);
    question.seconds = 120;
    if (!question.flags.empty() && questions.size() < most) questions.push_back(question);
  }
  if (questions.empty()) return 1;
  std::string pattern = (fs::temp_directory_path() / "opseal_bench_XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  for (const char* what : {"without a cache", "with an empty cache", "with a full cache"}) {
    const bool caches = std::string_view(what) != "without a cache";
    for (TypedQuestion& question : questions) question.cache = caches ? pattern : "";
    const Clock::time_point start = Clock::now();
    const TypedAnswers answers = ask_clang(program, questions, 1);
    const double spent = milliseconds_since(start);
    const auto full = std::count_if(answers.answers.begin(), answers.answers.end(),
                                    [](const TypedAnswer& answer) { return answer.full; });
    std::printf("%s: %zu files, %ld with their headers, %.0f ms for each\n", what, questions.size(),
                static_cast<long>(full), spent / static_cast<double>(questions.size()));
  }
  std::error_code error;
  fs::remove_all(pattern, error);
  return 0;
}

int run(std::vector<std::string> arguments) {
  std::size_t most = 200;
  bool built = false;
  std::string tidy = "clang-tidy";
  while (arguments.size() > 1 && arguments[0].starts_with("--")) {
    if (arguments[0] == "--most") most = std::stoul(arguments[1]);
    if (arguments[0] == "--tidy") tidy = arguments[1];
    if (arguments[0] == "--built") built = arguments[1] == "yes";
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (arguments.size() < 2) {
    std::fputs("usage: [--most FILES] [--tidy PROGRAM] [--built yes] OPSEAL FOLDER...\n", stderr);
    return 2;
  }
  if (built) return measure_built(arguments[0], arguments[1], most);
  std::vector<std::string> paths;
  for (std::size_t at = 1; at < arguments.size(); ++at) {
    for (std::string& path : sources_below(arguments[at])) paths.push_back(std::move(path));
  }
  std::sort(paths.begin(), paths.end());
  if (paths.size() > most) paths.resize(most);
  std::vector<TypedQuestion> questions;
  for (const std::string& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    TypedQuestion question;
    question.path = path;
    question.text = clang_prelude(path);
    question.prelude = static_cast<std::uint32_t>(question.text.size());
    question.prefix = question.prelude;
    question.text.append(std::istreambuf_iterator<char>(stream), {});
    questions.push_back(std::move(question));
  }
  const Clock::time_point start = Clock::now();
  const TypedAnswers answers = ask_clang(arguments[0], questions, 1);
  const double spent = milliseconds_since(start);
  if (!answers.missing.empty() || paths.empty()) {
    std::printf("nothing asked: %s\n", answers.missing.c_str());
    return 1;
  }
  const auto failed =
      std::count_if(answers.answers.begin(), answers.answers.end(),
                    [](const TypedAnswer& answer) { return !answer.problem.empty(); });
  const auto count = static_cast<double>(paths.size());
  std::printf("libclang %d: %zu files, %ld without an answer, %.1f ms for each\n", answers.version,
              paths.size(), static_cast<long>(failed), spent / count);
  const Clock::time_point begin = Clock::now();
  std::size_t started = 0;
  for (const std::string& path : paths) {
    const ProcessResult result =
        run_process({tidy, "--quiet", "--checks=-*,misc-unused-alias-decls", path, "--", "-x",
                     "c++", "-std=c++20", "-w"});
    started += result.started ? 1u : 0u;
  }
  if (started == paths.size()) {
    std::printf("%s: %.1f ms for each\n", tidy.c_str(), milliseconds_since(begin) / count);
  } else {
    std::printf("%s isn't here\n", tidy.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace opseal::bench

int main(int argc, char** argv) { return opseal::bench::run({argv + 1, argv + argc}); }
