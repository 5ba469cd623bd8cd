#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace opseal {

struct ChildRequest {
  std::string program;                     // path of the executable
  std::vector<std::string> arguments;      // without the program itself
  std::vector<std::string> environment{};  // `NAME=value`, over what this process has
  std::string input;                       // all that the child finds on its standard input
  double time_limit_seconds = 0;           // from the start; nan is 0, and over three years is cut
  std::size_t answer_limit = 0;            // bytes
  bool shows_output = true;                // false: only its tail is kept
};

enum class ChildEnd {
  exited,       // `code` is the exit status
  signalled,    // `code` is the signal
  not_started,  // `code` is errno of the failed exec
  timed_out,
  answer_too_long,
};

struct ChildResult {
  ChildEnd end = ChildEnd::not_started;
  int code = 0;
  std::string answer;       // what came through `child_answer_descriptor`
  std::string output_tail;  // last 16 KiB of its standard output and standard error together
};

// Runs a program in a process group of its own and waits for it. It dies with the calling thread,
// and the whole group is killed when the child has ended, when its time is up or when it answers
// too much. Its standard output and standard error go to our standard error, the first MiB of
// them, unless `shows_output` is false. Throws std::system_error if the system has no process, pipe
// or memory to give.
ChildResult run_child(const ChildRequest& request);

}  // namespace opseal
