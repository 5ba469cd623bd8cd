#include "analyzers/probe/framework_child.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "analyzers/child_process.h"
#include "analyzers/export_child.h"
#include "analyzers/probe/framework_operators.h"
#include "analyzers/probe/sandbox.h"
#include "analyzers/python_program.h"

namespace opseal {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_answer_bytes = std::size_t{1} << 20;
// Of one process.
constexpr std::size_t most_rows = 10000;

// A fresh folder, for everything that a framework and its compilers write.
class Scratch {
 public:
  Scratch() {
    std::string path = (fs::temp_directory_path() / "opseal-probe-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp");
    }
    path_ = path;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A cache that another process filled would answer in place of what is asked.
std::vector<std::string> environment_in(const std::string& folder) {
  std::vector<std::string> environment{
      "JAX_PLATFORMS=cpu",     "CCACHE_DISABLE=1",
      "CUDA_VISIBLE_DEVICES=", "JAX_ENABLE_COMPILATION_CACHE=false",
      "PYTHONHASHSEED=random", "PYTHONDONTWRITEBYTECODE=1",
  };
  // Memory comes from where what it holds can be chosen (probe_memory.py).
  constexpr const char* tunables = "GLIBC_TUNABLES";
  const char* set = std::getenv(tunables);
  environment.push_back(std::string(tunables) + "=" + (set == nullptr ? "" : set) +
                        (set == nullptr ? "" : ":") + "glibc.malloc.tcache_count=0");
  for (const char* name : {"TMPDIR", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "BRAINEVENT_CACHE_DIR",
                           "JAX_COMPILATION_CACHE_DIR"}) {
    const std::string below = name == std::string_view("TMPDIR") ? "" : "/own_caches";
    environment.push_back(std::string(name) + '=' + folder + below);
  }
  return environment;
}

// What the lines of a process came to, before they are held against the rows it should state.
struct Heard {
  std::string version;
  std::vector<std::string> lacks;
  // `done`: it came to the end of what was asked.
  std::string end;
  std::string reason;
  // What it was about last: `imports` of modules, or `calls`; empty: it doesn't say.
  std::string stage;
  // The call of an operator that it was about last.
  std::string call;
  std::vector<FrameworkRow> rows;
};

std::string text_of(const nlohmann::json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Heard read_lines(const std::string& answer, const FrameworkCheck& check) {
  Heard heard;
  std::istringstream in(answer);
  for (std::string text; std::getline(in, text);) {
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, false);
    if (!line.is_object()) continue;
    if (line.contains("version")) heard.version = text_of(line, "version");
    if (line.contains("lack")) heard.lacks.push_back(text_of(line, "lack"));
    if (line.contains("stage")) {
      heard.stage = text_of(line, "stage");
      heard.call = text_of(line, "call");
    }
    if (line.contains("end")) {
      heard.end = text_of(line, "end");
      heard.reason = text_of(line, "reason");
    }
    const std::string name = text_of(line, "row");
    const std::string status = text_of(line, "status");
    if (std::find(check.rows.begin(), check.rows.end(), name) == check.rows.end()) continue;
    const bool known = status == "passed" || status == "differs" ||
                       (check.twice && status == "seen") ||
                       (check.open && (status == "skipped" || status == "refused"));
    if (!known || heard.rows.size() == most_rows) continue;
    FrameworkRow& stated = heard.rows.emplace_back();
    stated.name = name;
    stated.operator_name = text_of(line, "operator");
    stated.call = text_of(line, "call");
    stated.input = text_of(line, "input");
    stated.status = status;
    stated.reason = text_of(line, "reason");
    stated.expected = text_of(line, "expected");
    stated.seen = text_of(line, "seen");
  }
  return heard;
}

// What is said of rows that a process did not come to state.
FrameworkRow missing_row(const ChildResult& child, const Heard& heard, double time_limit_seconds) {
  FrameworkRow row;
  row.status = "no_answer";
  switch (child.end) {
    case ChildEnd::not_started:
      row.reason =
          "the interpreter can't be started: " + std::generic_category().message(child.code);
      return row;
    case ChildEnd::timed_out: {
      std::ostringstream reason;
      reason << "no end within " << time_limit_seconds << " s";
      row.status = "timed_out";
      row.reason = reason.str();
      return row;
    }
    case ChildEnd::answer_too_long:
      row.reason = "an answer of more than " + std::to_string(most_answer_bytes) + " bytes";
      return row;
    case ChildEnd::signalled: {
      const char* name = ::sigabbrev_np(child.code);
      // No process does that to itself: somebody else, or too little memory.
      row.status = child.code == SIGKILL ? "no_answer" : "crashed";
      row.reason = "ended by " + (name == nullptr ? "signal " + std::to_string(child.code)
                                                  : std::string("SIG") + name);
      if (heard.end == "done") {
        row.status = "no_answer";
        row.reason += " as it ended, after all that was asked";
      }
      return row;
    }
    case ChildEnd::exited:
      break;
  }
  if (heard.end == "done" && child.code != 0) {
    row.reason =
        "ended with exit status " + std::to_string(child.code) + " after all that was asked";
  } else if (heard.end == "skipped" || heard.end == "no_answer") {
    row.status = heard.end;
    row.reason = heard.reason;
  } else if (child.code != 0) {
    row.status = "crashed";
    row.reason = "ended with exit status " + std::to_string(child.code);
  } else {
    row.reason = "ended without an answer";
  }
  return row;
}

// `argument`: of the check's function; empty: none. `plan`: becomes a file, whose path is one.
FrameworkAnswer run_once(const Framework& framework, const FrameworkCheck& check,
                         const FrameworkRunner& runner, std::string_view argument,
                         const std::string& plan = {}) {
  const auto start = std::chrono::steady_clock::now();
  const Scratch scratch;
  ChildRequest request;
  request.program = runner.python;
  if (!runner.program.empty()) {
    request.program = runner.program;
    request.arguments = {std::string(framework_child_argument), scratch.path(), runner.python};
  }
  for (const std::string_view word :
       {std::string_view("-B"), std::string_view("-c"), python_bootstrap(),
        std::string_view("--probe"), framework.name, check.name}) {
    request.arguments.emplace_back(word);
  }
  if (!argument.empty()) request.arguments.emplace_back(argument);
  if (!plan.empty()) {
    const std::string path = scratch.path() + "/plan.json";
    std::ofstream(path, std::ios::binary) << plan;
    request.arguments.push_back(path);
  }
  request.environment = environment_in(scratch.path());
  request.input = framed_python_scripts();
  request.time_limit_seconds = runner.time_limit_seconds;
  request.answer_limit = most_answer_bytes;
  request.shows_output = false;
  const ChildResult child = run_child(request);
  Heard heard = read_lines(child.answer, check);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  FrameworkAnswer answer;
  answer.version = heard.version;
  answer.lacks = heard.lacks;
  answer.missing = child.end == ChildEnd::exited && heard.end == "missing";
  if (heard.end == "import") {
    answer.failed_import = heard.reason;
    return answer;
  }
  if (heard.stage == "imports" && heard.end.empty()) {
    answer.failed_import = "the modules of `--import` can't be imported: " +
                           missing_row(child, heard, runner.time_limit_seconds).reason;
    return answer;
  }
  if (check.open) {
    answer.rows = std::move(heard.rows);
    for (FrameworkRow& row : answer.rows) row.seconds = took.count();
    const bool ended = child.end == ChildEnd::exited && child.code == 0 && heard.end == "done";
    if (ended && !answer.rows.empty()) return answer;
    FrameworkRow row;
    if (!ended) row = missing_row(child, heard, runner.time_limit_seconds);
    if (ended) {
      row.status = "skipped";
      row.reason = "nothing could be asked of it";
    }
    row.name = check.rows.front();
    if (row.status == "crashed" || row.status == "timed_out") row.call = heard.call;
    row.seconds = took.count();
    answer.rows.push_back(std::move(row));
    return answer;
  }
  bool told = false;
  for (const std::string_view name : check.rows) {
    const auto stated = std::find_if(heard.rows.begin(), heard.rows.end(),
                                     [name](const FrameworkRow& row) { return row.name == name; });
    FrameworkRow row;
    if (stated != heard.rows.end()) {
      row = std::move(*stated);
    } else {
      row = missing_row(child, heard, runner.time_limit_seconds);
      // One crash is one, however many rows were to come.
      if (told && row.status == "crashed") {
        row.status = "no_answer";
        row.reason = "its process was " + row.reason + " before";
      }
      told = true;
    }
    row.name = name;
    row.seconds = took.count();
    answer.rows.push_back(std::move(row));
  }
  return answer;
}

}  // namespace

FrameworkAnswer run_framework_check(const Framework& framework, const FrameworkCheck& check,
                                    const FrameworkRunner& runner) {
  if (!check.twice) return run_once(framework, check, runner, {});
  FrameworkAnswer answer = run_once(framework, check, runner, "first");
  if (answer.missing) return answer;
  const FrameworkAnswer second = run_once(framework, check, runner, "second");
  for (std::size_t at = 0; at < answer.rows.size(); ++at) {
    FrameworkRow& row = answer.rows[at];
    const FrameworkRow& other = second.rows[at];
    row.seconds += other.seconds;
    if (row.status != "seen") continue;
    if (other.status != "seen") {
      row.status = other.status;
      row.reason = "in the second process: " + other.reason;
    } else if (row.seen == other.seen) {
      row.status = "passed";
    } else {
      row.status = "differs";
      row.seen += ", and in the other process " + other.seen;
    }
  }
  return answer;
}

FrameworkAnswer run_framework_operator(const Framework& framework, const std::string& plan,
                                       const FrameworkRunner& runner) {
  const std::span<const std::string_view> names = operator_row_names();
  FrameworkCheck check{"operators", {names.begin(), names.end()}};
  check.open = true;
  return run_once(framework, check, runner, {}, plan);
}

int run_framework_child(std::span<char* const> arguments) {
  constexpr int unusable = 127;
  if (arguments.size() < 2) return unusable;
  SandboxOptions options;
  options.scratch = arguments[0];
  options.may_start_programs = true;
  for (const std::string& lack : enter_sandbox(options)) {
    const nlohmann::json line = {{"lack", lack}};
    write_all(child_answer_descriptor, line.dump() + "\n");
  }
  std::vector<char*> words(arguments.begin() + 1, arguments.end());
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  return unusable;
}

}  // namespace opseal
