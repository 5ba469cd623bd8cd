#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "analyzers/child_process.h"
#include "analyzers/probe/landlock.h"
#include "analyzers/probe/pool.h"
#include "analyzers/probe/sandbox.h"
#include "tests/probe_saboteur.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

// A folder with a file that a child must leave alone, and one in which it may write.
class Grounds {
 public:
  Grounds() {
    std::string name = (fs::temp_directory_path() / "opseal-sandbox-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    fs::create_directory(folder_ / "scratch");
    std::ofstream(folder_ / "kept") << "kept";
  }
  ~Grounds() { fs::remove_all(folder_); }

  std::string kept() const { return (folder_ / "kept").string(); }
  std::string outside(const char* name) const { return (folder_ / name).string(); }
  std::string scratch() const { return (folder_ / "scratch").string(); }
  std::string inside(const char* name) const { return scratch() + '/' + name; }

 private:
  fs::path folder_;
};

struct Told {
  std::vector<std::string> answers;
  std::vector<std::string> lacks;
};

Told tell(const SandboxOptions& sandbox, const std::vector<std::string>& questions) {
  PoolOptions options;
  options.program = fs::read_symlink("/proc/self/exe").string();
  options.arguments = {std::string(saboteur_argument)};
  options.workers = 1;
  options.sandbox = sandbox;
  std::vector<PoolRequest> requests;
  for (const std::string& question : questions) requests.push_back({question});
  Told told;
  told.answers.resize(questions.size());
  told.lacks = run_pool(options, requests, [&](std::size_t at, const PoolOutcome& outcome) {
                 told.answers[at] = outcome.end == PoolEnd::answered ? outcome.answer : "no answer";
               }).lacks;
  return told;
}

const std::string refused = std::strerror(EPERM);
const std::string denied = std::strerror(EACCES);
const std::string unknown = std::strerror(ENOSYS);

struct Case {
  std::string question;
  std::string answer;
};

void check(const SandboxOptions& sandbox, const std::vector<Case>& cases) {
  std::vector<std::string> questions;
  for (const Case& each : cases) questions.push_back(each.question);
  const Told told = tell(sandbox, questions);
  for (std::size_t at = 0; at < cases.size(); ++at) {
    CAPTURE(cases[at].question);
    CHECK(told.answers[at] == cases[at].answer);
  }
}

}  // namespace

TEST_CASE("from the sandbox no process, program, network or other process is reached") {
  // Without the flag that closes it in other programs, and above those that a child is given.
  const Descriptor low(::open("/dev/null", O_RDONLY));
  const Descriptor open_here(::fcntl(low.number(), F_DUPFD, 50));
  REQUIRE(open_here.is_open());
  check({}, {
                {"open " + std::to_string(open_here.number()), std::strerror(EBADF)},
                {"fork", refused},
                {"clone", refused},
                {"clone3", unknown},
                {"execute", refused},
                {"socket", refused},
                {"ring", refused},
                {"parent", refused},
                {"signal 0", refused},
                {"signal -1", refused},
                {"signal 1", refused},
                {"owner", refused},
                {"orphan", refused},
                {"session", refused},
                {"namespace", refused},
                {"type", refused},
                {"files 0", refused},
                {"files " + std::to_string(::getpid()), refused},
                {"time 0", "done"},
                {"time " + std::to_string(::getpid()), refused},
            });
}

TEST_CASE("in the sandbox threads run, and files are read") {
  const Told told = tell({}, {"threads", "read /proc/self/maps", "memfd", "write /dev/null"});
  CHECK(told.answers[0] == "8");
  CHECK(told.answers[1].find("[stack]") != std::string::npos);
  CHECK(told.answers[2] == "done");
  if (landlock_version() > 0) CHECK(told.answers[3] == "done");
}

TEST_CASE("a child has a network of its own, in which there is nothing") {
  const Told told = tell({}, {"where /proc/self/ns/net", "read /proc/self/net/dev"});
  for (const std::string& lack : told.lacks) {
    if (!lack.starts_with("no network namespace")) continue;
    std::printf("skipped: %s\n", lack.c_str());
    return;
  }
  CHECK(told.answers[0].starts_with("net:["));
  CHECK(told.answers[0] != fs::read_symlink("/proc/self/ns/net").string());
  // Two lines of headings, and the loop.
  CHECK(std::count(told.answers[1].begin(), told.answers[1].end(), '\n') == 3);
}

TEST_CASE("processor time is given for each question") {
  const Told told = tell({}, {"read /proc/self/limits"});
  const std::size_t line = told.answers[0].find("Max cpu time");
  REQUIRE(line != std::string::npos);
  // Ten seconds of all processors, in a process that has used none.
  const unsigned seconds = 10 * std::max(1u, std::thread::hardware_concurrency()) + 1;
  CHECK(std::stoul(told.answers[0].substr(line + 12)) - seconds <= 1);
}

TEST_CASE("a child can't use more than its limits") {
  const Told told = tell({}, {"read /proc/self/limits", "read /proc/self/status"});
  const std::string& limits = told.answers[0];
  for (const char* line : {"Max core file size        0                    0 ",
                           "Max file size             268435456            268435456 ",
                           "Max open files            1024                 1024 "}) {
    CAPTURE(line);
    CHECK(limits.find(line) != std::string::npos);
  }
  const std::string& status = told.answers[1];
  for (const char* line : {"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000",
                           "NoNewPrivs:\t1", "Seccomp:\t2"}) {
    CAPTURE(line);
    CHECK(status.find(line) != std::string::npos);
  }
}

TEST_CASE("with Landlock files are written in the scratch folder alone") {
  if (landlock_version() < landlock_handles_truncation) {
    std::puts("skipped: the kernel has no Landlock, or too old a one");
    return;
  }
  const Grounds grounds;
  SandboxOptions sandbox;
  sandbox.scratch = grounds.scratch();
  check(sandbox, {
                     {"write " + grounds.inside("a"), "done"},
                     {"read " + grounds.inside("a"), "text"},
                     {"cut " + grounds.inside("a"), "done"},
                     {"structure " + grounds.inside("b"), "done"},
                     {"folder " + grounds.inside("c"), "done"},
                     {"remove " + grounds.inside("a"), "done"},
                     {"write " + grounds.outside("a"), denied},
                     {"write " + grounds.kept(), denied},
                     {"write " + grounds.inside("../kept"), denied},
                     {"structure " + grounds.outside("b"), denied},
                     {"truncate " + grounds.kept(), denied},
                     {"cut " + grounds.kept(), denied},
                     {"folder " + grounds.outside("c"), denied},
                     {"remove " + grounds.kept(), denied},
                     {"mode " + grounds.kept(), refused},
                     {"mode " + grounds.inside("b"), refused},
                     {"link " + grounds.inside("d"), refused},
                     {"write /proc/" + std::to_string(::getpid()) + "/oom_score_adj", denied},
                     {"read /proc/" + std::to_string(::getpid()) + "/environ", denied},
                     {"read " + grounds.kept(), "kept"},
                 });
  CHECK(read_file(grounds.kept()) == "kept");
  check({}, {{"write " + grounds.inside("e"), denied}});
  CHECK_FALSE(fs::exists(grounds.inside("e")));
}

TEST_CASE("without Landlock nothing is opened for writing, and that is said") {
  const Grounds grounds;
  SandboxOptions sandbox;
  sandbox.scratch = grounds.scratch();
  sandbox.use_landlock = false;
  check(sandbox, {
                     {"write " + grounds.inside("a"), refused},
                     {"write " + grounds.kept(), refused},
                     {"structure " + grounds.inside("b"), unknown},
                     {"truncate " + grounds.kept(), refused},
                     {"cut " + grounds.kept(), refused},
                     {"folder " + grounds.inside("c"), refused},
                     {"remove " + grounds.kept(), refused},
                     {"parent", refused},
                     {"fork", refused},
                     {"threads", "8"},
                     {"read " + grounds.kept(), "kept"},
                 });
  CHECK(read_file(grounds.kept()) == "kept");
  const Told told = tell(sandbox, {"echo"});
  REQUIRE_FALSE(told.lacks.empty());
  CHECK(told.lacks.back().starts_with("no Landlock: "));
}

TEST_CASE("a scratch folder that isn't there is told") {
  if (landlock_version() == 0) {
    std::puts("skipped: the kernel has no Landlock");
    return;
  }
  SandboxOptions sandbox;
  sandbox.scratch = "/absent/folder";
  const Told told = tell(sandbox, {"echo well"});
  CHECK(told.answers[0] == "well");
  REQUIRE(told.lacks.size() >= 1);
  CHECK(told.lacks.back().find("`/absent/folder`") != std::string::npos);
}

}  // namespace opseal::test
