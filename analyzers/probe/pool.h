#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/sandbox.h"

namespace opseal {

// One question for a child: what it means is between who asks and `ProbeAnswerer` (probe/child.h).
struct PoolRequest {
  std::string question;
  // Seconds from the moment the child is handed the question.
  double time_limit_seconds = 10;
  // The child must not have answered anything before, and answers nothing afterwards: what is asked
  // depends on what a process does first.
  bool alone = false;
};

enum class PoolEnd {
  answered,   // `answer`
  signalled,  // `code` is the signal
  // The code asked about ended the process, and `code` is its exit status; or it closed the
  // descriptor for answers, or wrote there what is no answer, and `code` is `no_exit_status`.
  exited,
  // `code` is errno; 0: it was started, and ended before it could be asked.
  not_started,
  timed_out,
  output_too_long,  // printed more than `PoolOptions::output_limit`
  answer_too_long,
};

inline constexpr int no_exit_status = -1;

struct PoolOutcome {
  PoolEnd end = PoolEnd::not_started;
  int code = 0;
  std::string answer;
  // What the child said before it ended, where it ended without an answer (its last words, see
  // probe/child.h). Empty: nothing.
  std::string last_words;
  // Last 16 KiB of what was printed while this was asked, standard output and error together.
  std::string output_tail;
  double seconds = 0;
};

// The last line that a child printed, at most 200 bytes of it.
std::string last_line(const PoolOutcome& outcome);

struct PoolOptions {
  // The program itself, and the hidden arguments by which it becomes a child.
  std::string program;
  std::vector<std::string> arguments;
  // `NAME=value`, over what this process has.
  std::vector<std::string> environment{};
  // Children at once; 0: as many as there are processors.
  unsigned workers = 0;
  // Until a child is ready for its first question: loading the program, on a busy machine.
  double start_limit_seconds = 60;
  // Bytes a child may print for one question.
  std::size_t output_limit = std::size_t{1} << 20;
  // Bytes of one answer.
  std::size_t answer_limit = std::size_t{16} << 20;
  // How a child shuts itself in.
  SandboxOptions sandbox{};
};

// A child that ended, but not of what it was asked: of what an earlier question left behind, such
// as a thread that goes on. What it was asked just then was asked again of a new child, which
// answered it.
struct PoolStray {
  // Of the requests: the last that this child had answered.
  std::size_t after = 0;
  PoolOutcome outcome;
};

struct PoolReport {
  // What the sandbox of the children could not do on this machine, in words ("no Landlock: ..."):
  // to be said in every report.
  std::vector<std::string> lacks;
  std::vector<PoolStray> strays;
  std::size_t children_started = 0;
};

// Asks every question, each of one child at a time, and calls `done` once for each, in whatever
// order they are answered, always from the calling thread. A child that ends costs its own question
// and nothing else: the next one gets a new child. If it had answered others before, that question
// is first asked once more, of a new child: what that one comes to counts. Throws std::system_error
// where the system has no process, pipe or memory to give.
PoolReport run_pool(const PoolOptions& options, std::span<const PoolRequest> requests,
                    const std::function<void(std::size_t, PoolOutcome)>& done);

}  // namespace opseal
