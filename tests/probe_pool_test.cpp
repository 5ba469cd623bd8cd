#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "analyzers/probe/pool.h"
#include "analyzers/process_limits.h"
#include "tests/probe_liar.h"
#include "tests/probe_saboteur.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

PoolOptions saboteurs() {
  PoolOptions options;
  options.program = fs::read_symlink("/proc/self/exe").string();
  options.arguments = {std::string(saboteur_argument)};
  options.workers = 2;
  // The search for leaks at the end of a process takes another process.
  options.environment = {"ASAN_OPTIONS=detect_leaks=0"};
  options.sandbox.memory_limit = std::size_t{512} << 20;
  return options;
}

struct Answers {
  std::vector<PoolOutcome> outcomes;
  PoolReport report;
};

Answers ask(const PoolOptions& options, const std::vector<PoolRequest>& requests) {
  Answers answers;
  answers.outcomes.resize(requests.size());
  std::vector<int> times(requests.size());
  const std::thread::id caller = std::this_thread::get_id();
  answers.report = run_pool(options, requests, [&](std::size_t at, PoolOutcome outcome) {
    CHECK(std::this_thread::get_id() == caller);
    ++times.at(at);
    answers.outcomes.at(at) = std::move(outcome);
  });
  CHECK(std::count(times.begin(), times.end(), 1) == static_cast<std::ptrdiff_t>(times.size()));
  return answers;
}

PoolOutcome ask_one(const std::string& question, const PoolOptions& options = saboteurs()) {
  return ask(options, {{question, 20}}).outcomes.at(0);
}

struct Sabotage {
  const char* question;
  double seconds;
  PoolEnd end;
  int code;
  const char* answer = "";
};

// Those of the memory can't be seen where it has no limit.
std::vector<Sabotage> sabotages() {
  std::vector<Sabotage> all{
      {"null", 20, PoolEnd::signalled, SIGSEGV},
      {"abort", 20, PoolEnd::signalled, SIGABRT},
      {"throw", 20, PoolEnd::signalled, SIGABRT},
      {"kill", 20, PoolEnd::signalled, SIGKILL},
      {"exit 0", 20, PoolEnd::exited, 0},
      {"exit 3", 20, PoolEnd::exited, 3},
      {"spin", 0.5, PoolEnd::timed_out, 0},
      {"hang", 0.5, PoolEnd::timed_out, 0},
      {"stop", 0.5, PoolEnd::timed_out, 0},
      {"flood", 20, PoolEnd::output_too_long, 0},
      {"forks", 20, PoolEnd::answered, 0, "Operation not permitted"},
      {"garbage", 20, PoolEnd::exited, no_exit_status},
      {"crumb", 20, PoolEnd::exited, no_exit_status},
      {"close", 20, PoolEnd::exited, no_exit_status},
      {"shut", 20, PoolEnd::exited, no_exit_status},
      {"parent", 20, PoolEnd::answered, 0, "Operation not permitted"},
      {"long 20000000", 20, PoolEnd::answer_too_long, 0},
      {"words", 20, PoolEnd::exited, 7},
      {"stack", 20, PoolEnd::signalled, SIGSEGV},
      {"thread", 20, PoolEnd::answered, 0, "answered before the crash"},
      {"deaf", 20, PoolEnd::answered, 0, "deaf"},
  };
#ifdef __x86_64__
  all.push_back({"x32", 20, PoolEnd::signalled, SIGSYS});
#endif
  if (can_limit_memory()) {
    all.push_back({"memory", 20, PoolEnd::signalled, SIGABRT});
  } else {
    // Sanitizers have handlers of their own, which end the process in another way.
    std::erase_if(all, [](const Sabotage& one) { return one.end == PoolEnd::signalled; });
  }
  return all;
}

}  // namespace

TEST_CASE("what one question does to its child costs no other question") {
  const std::vector<Sabotage> bad = sabotages();
  std::vector<PoolRequest> requests;
  std::map<std::size_t, Sabotage> at_place;
  constexpr std::size_t count = 500;
  const std::size_t step = count / bad.size();
  for (std::size_t at = 0; at < count; ++at) {
    const bool spoils = at % step == step / 2 && at_place.size() < bad.size();
    if (spoils) at_place.emplace(at, bad[at_place.size()]);
    requests.push_back(spoils ? PoolRequest{at_place.at(at).question, at_place.at(at).seconds}
                              : PoolRequest{"echo number " + std::to_string(at), 20});
  }
  REQUIRE(at_place.size() == bad.size());
  const Answers answers = ask(saboteurs(), requests);
  for (std::size_t at = 0; at < count; ++at) {
    const PoolOutcome& outcome = answers.outcomes[at];
    CAPTURE(requests[at].question);
    const auto spoilt = at_place.find(at);
    const Sabotage expected =
        spoilt != at_place.end() ? spoilt->second : Sabotage{"", 0, PoolEnd::answered, 0};
    CHECK(outcome.end == expected.end);
    CHECK(outcome.code == expected.code);
    CHECK(outcome.answer ==
          (spoilt != at_place.end() ? expected.answer : requests[at].question.substr(5)));
    CHECK(outcome.seconds < 15);
  }
  CHECK(answers.outcomes[0].seconds > 0);
  // The thread and the closed input hurt others, who were asked again. A few more children than
  // there were sabotages: most of these ended one that had answered others, and then a new one.
  CHECK(answers.report.strays.size() >= 1);
  CHECK(answers.report.children_started <= 2 + 2 * bad.size() + 2);
}

TEST_CASE("what a child makes up is an outcome of its own question") {
  const std::vector<Sabotage> lies{
      {"lie twice", 20, PoolEnd::exited, no_exit_status},
      {"lie again", 20, PoolEnd::answered, 0, "one"},
      {"lie key", 20, PoolEnd::exited, no_exit_status},
      {"lie none", 20, PoolEnd::exited, no_exit_status},
      {"lie kind", 20, PoolEnd::exited, no_exit_status},
      {"lie ready", 20, PoolEnd::exited, no_exit_status},
      {"lie setup", 20, PoolEnd::exited, no_exit_status},
      {"lie words", 20, PoolEnd::exited, no_exit_status},
      {"lie chatter", 20, PoolEnd::answered, 0, "at last"},
      {"lie half", 20, PoolEnd::exited, 4},
      {"lie endless", 20, PoolEnd::answer_too_long, 0},
      {"lie silent", 0.3, PoolEnd::timed_out, 0},
  };
  PoolOptions options = saboteurs();
  options.arguments = {std::string(liar_argument)};
  for (const unsigned workers : {1u, 3u}) {
    options.workers = workers;
    std::vector<PoolRequest> requests;
    for (const Sabotage& one : lies) {
      requests.push_back({"truth " + std::to_string(requests.size())});
      requests.push_back({one.question, one.seconds});
    }
    const Answers answers = ask(options, requests);
    for (std::size_t at = 0; at < requests.size(); ++at) {
      const PoolOutcome& outcome = answers.outcomes[at];
      CAPTURE(requests[at].question);
      const Sabotage& lie = lies[at / 2];
      const bool is_lie = at % 2 == 1;
      CHECK(outcome.end == (is_lie ? lie.end : PoolEnd::answered));
      CHECK(outcome.code == (is_lie ? lie.code : 0));
      CHECK(outcome.answer == (is_lie ? lie.answer : requests[at].question));
    }
    CHECK(answers.report.lacks == std::vector<std::string>{"a liar"});
  }
}

TEST_CASE("a thread that crashes after the answer is told apart from what is asked next") {
  PoolOptions options = saboteurs();
  options.workers = 1;
  std::vector<PoolRequest> requests{{"echo first"}, {"thread"}, {"sleep 2"}, {"echo last"}};
  const Answers answers = ask(options, requests);
  for (const PoolOutcome& outcome : answers.outcomes) CHECK(outcome.end == PoolEnd::answered);
  CHECK(answers.outcomes[2].answer == "slept");
  REQUIRE(answers.report.strays.size() == 1);
  CHECK(answers.report.strays[0].after == 1);
  if (can_limit_memory()) CHECK(answers.report.strays[0].outcome.code == SIGABRT);
  CHECK(answers.report.children_started == 2);
}

TEST_CASE("a question that is asked alone has a child of its own") {
  PoolOptions options = saboteurs();
  options.workers = 1;
  const Answers answers =
      ask(options, {{"count"}, {"count", 10, true}, {"count"}, {"count", 10, true}, {"count"}});
  const std::vector<std::string> expected{"1", "1", "2", "1", "3"};
  for (std::size_t at = 0; at < expected.size(); ++at) {
    CHECK(answers.outcomes[at].answer == expected[at]);
  }
  CHECK(answers.report.children_started == 3);
}

TEST_CASE("what is printed comes with the question it was printed for") {
  PoolOptions options = saboteurs();
  options.workers = 1;
  const std::string line(1000, 'l');
  const Answers answers =
      ask(options, {{"say one"}, {"echo"}, {"say two"}, {"say " + std::string(40000, 'x') + line}});
  CHECK(answers.outcomes[0].output_tail == "one");
  CHECK(answers.outcomes[1].output_tail == "");
  CHECK(answers.outcomes[2].output_tail == "two");
  CHECK(answers.outcomes[3].output_tail == std::string(16384 - 1000, 'x') + line);
}

TEST_CASE("code that reads from standard input takes no questions away") {
  PoolOptions options = saboteurs();
  options.workers = 1;
  const Answers answers = ask(options, {{"input"}, {"echo one"}, {"input"}, {"echo two"}});
  CHECK(answers.outcomes[0].answer == "ended");
  CHECK(answers.outcomes[1].answer == "one");
  CHECK(answers.outcomes[3].answer == "two");
  CHECK(answers.report.children_started == 1);
}

TEST_CASE("what was printed before a crash is kept") {
  const Answers answers = ask(saboteurs(), {{"flood"}});
  CHECK(answers.outcomes[0].end == PoolEnd::output_too_long);
  CHECK(answers.outcomes[0].output_tail.size() == 16384);
}

TEST_CASE("the last words of a child are heard") {
  const PoolOutcome outcome = ask_one("words");
  CHECK(outcome.end == PoolEnd::exited);
  CHECK(outcome.code == 7);
  CHECK(outcome.last_words == "these are the last words");
}

TEST_CASE("long questions and long answers go through") {
  const std::string text(3 << 20, 't');
  CHECK(ask_one("echo " + text).answer == text);
  PoolOptions options = saboteurs();
  options.answer_limit = 1000;
  CHECK(ask_one("long 1000", options).answer.size() == 1000);
  CHECK(ask_one("long 1001", options).end == PoolEnd::answer_too_long);
}

TEST_CASE("a program that can't be started, or is none of ours, is no answer") {
  PoolOptions options = saboteurs();
  options.program = "/absent";
  PoolOutcome outcome = ask_one("echo", options);
  CHECK(outcome.end == PoolEnd::not_started);
  CHECK(outcome.code == ENOENT);
  options.program = "/bin/sh";
  options.arguments = {"-c", "echo something; exit 5"};
  outcome = ask_one("echo", options);
  CHECK(outcome.end == PoolEnd::not_started);
  CHECK(outcome.code == 0);
  CHECK(outcome.output_tail == "something\n");
}

TEST_CASE("no question and no child") {
  const Answers answers = ask(saboteurs(), {});
  CHECK(answers.report.children_started == 0);
  CHECK(answers.report.lacks.empty());
}

}  // namespace opseal::test
