#include "analyzers/export_child.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "analyzers/child_process.h"

namespace opseal {
namespace {

using Clock = ChildClock;

constexpr std::size_t most_output_shown = std::size_t{1} << 20;

// How often the end of the child is looked for while its pipes are silent: a grandchild may hold
// them open for ever.
constexpr int tick_milliseconds = 50;

// Shows the first MiB of what the child prints and keeps the last 16 KiB.
class Output {
 public:
  explicit Output(bool shown) : cut_(!shown), shown_(shown ? 0 : most_output_shown) {}

  void add(std::string_view bytes) {
    const std::string_view shown = bytes.substr(0, most_output_shown - shown_);
    write_all(STDERR_FILENO, shown);
    shown_ += shown.size();
    if (shown.size() < bytes.size() && !cut_) {
      cut_ = true;
      write_all(STDERR_FILENO, "\nopseal: further output of the child is not shown\n");
    }
    tail_.add(bytes);
  }
  std::string take_tail() { return tail_.take(); }

 private:
  bool cut_;
  std::size_t shown_;
  Tail tail_;
};

bool is_ready(const pollfd& entry) { return (entry.revents & (POLLIN | POLLHUP | POLLERR)) != 0; }

// Listens until the child has ended and its pipes are empty.
class Listener {
 public:
  Listener(const ChildRequest& request, Descriptor answer_pipe, Descriptor output_pipe,
           Clock::time_point start)
      : answer_limit_(request.answer_limit),
        answer_pipe_(std::move(answer_pipe)),
        output_pipe_(std::move(output_pipe)),
        deadline_(start + wait_of(request.time_limit_seconds)),
        output_(request.shows_output) {}

  ChildEnd listen(const Child& child) {
    for (;;) {
      const bool ended = child.has_ended();
      const bool heard = hear(ended ? 0 : tick_milliseconds);
      if (answer_.size() > answer_limit_) return ChildEnd::answer_too_long;
      if (ended && !heard) return ChildEnd::exited;
      // Also after the end: a grandchild could go on printing for ever.
      if (Clock::now() >= deadline_) return ended ? ChildEnd::exited : ChildEnd::timed_out;
    }
  }

  std::string take_answer() { return std::move(answer_); }
  std::string take_output_tail() { return output_.take_tail(); }

 private:
  bool hear(int milliseconds) {
    std::array<pollfd, 2> entries{pollfd{answer_pipe_.number(), POLLIN, 0},
                                  pollfd{output_pipe_.number(), POLLIN, 0}};
    // A closed descriptor is -1, which poll passes over.
    if (::poll(entries.data(), entries.size(), milliseconds) <= 0) return false;
    if (is_ready(entries[0])) answer_ += read_some(answer_pipe_, buffer_);
    if (is_ready(entries[1])) output_.add(read_some(output_pipe_, buffer_));
    return true;
  }

  std::size_t answer_limit_;
  Descriptor answer_pipe_;
  Descriptor output_pipe_;
  Clock::time_point deadline_;
  std::string answer_;
  Output output_;
  std::array<char, 65536> buffer_{};
};

}  // namespace

ChildResult run_child(const ChildRequest& request) {
  const Descriptor input = make_input(request.input);
  Pipe answer = make_pipe();
  Pipe output = make_pipe();
  const Clock::time_point start = Clock::now();
  StartedProgram started =
      start_program({request.program, request.arguments, request.environment},
                    {input.number(), answer.write_end.number(), output.write_end.number()});
  for (Pipe* pipe : {&answer, &output}) pipe->write_end.close();
  ChildResult result;
  if (started.error != 0) {
    result.code = started.error;
    return result;
  }
  Listener listener(request, std::move(answer.read_end), std::move(output.read_end), start);
  result.end = listener.listen(started.child);
  const int status = started.child.end();
  if (result.end == ChildEnd::exited) {
    const bool signalled = WIFSIGNALED(status);
    result.end = signalled ? ChildEnd::signalled : ChildEnd::exited;
    result.code = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  }
  result.answer = listener.take_answer();
  result.output_tail = listener.take_output_tail();
  return result;
}

}  // namespace opseal
