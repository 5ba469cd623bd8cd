#include "analyzers/export_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

namespace opseal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output_shown = std::size_t{1} << 20;
constexpr std::size_t most_output_kept = std::size_t{16} << 10;

// Far beyond any real limit, and small enough for the arithmetic of the clock.
constexpr double longest_wait_seconds = 1e8;

// A clock counts whole ticks: what is no number cannot become one.
Clock::duration wait_of(double seconds) {
  const double wait = std::isnan(seconds) ? 0 : std::clamp(seconds, 0.0, longest_wait_seconds);
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(wait));
}

// How often the end of the child is looked for while its pipes are silent: a grandchild may hold
// them open for ever.
constexpr int tick_milliseconds = 50;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

// The child puts its descriptors at 0 to 3; ours lie above, so that none of those moves can
// overwrite the next one.
Descriptor out_of_the_way(const Descriptor& low) {
  Descriptor high(::fcntl(low.number(), F_DUPFD_CLOEXEC, child_answer_descriptor + 1));
  if (!high.is_open()) fail("fcntl");
  return high;
}

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  const Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  return {out_of_the_way(read_end), out_of_the_way(write_end)};
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A file in memory instead of a pipe: a child that does not read cannot block us.
Descriptor make_input(std::string_view bytes) {
  const Descriptor low(::memfd_create("opseal-input", MFD_CLOEXEC));
  if (!low.is_open()) fail("memfd_create");
  Descriptor input = out_of_the_way(low);
  if (!write_all(input.number(), bytes) || ::lseek(input.number(), 0, SEEK_SET) != 0) fail("write");
  return input;
}

struct ChildDescriptors {
  int input;
  int answer;
  int output;
  int start_error;
};

// Runs between fork and exec, where only what is safe in a signal handler may be called.
[[noreturn]] void become_program(char* const* arguments, char* const* environment,
                                 const ChildDescriptors& descriptors, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above took effect.
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::dup2(descriptors.input, STDIN_FILENO) >= 0 &&
      ::dup2(descriptors.output, STDOUT_FILENO) >= 0 &&
      ::dup2(descriptors.output, STDERR_FILENO) >= 0 &&
      ::dup2(descriptors.answer, child_answer_descriptor) >= 0) {
    ::execve(arguments[0], arguments, environment);
  }
  const int error = errno;
  // If even this fails the parent sees a child that ended with 127 and said nothing.
  [[maybe_unused]] const ssize_t written = ::write(descriptors.start_error, &error, sizeof error);
  ::_exit(127);
}

std::vector<char*> argument_pointers(const ChildRequest& request) {
  std::vector<char*> pointers{const_cast<char*>(request.program.c_str())};
  for (const std::string& argument : request.arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// What this process has, with the request's own in place of those of the same names.
std::vector<char*> environment_pointers(const ChildRequest& request) {
  std::vector<char*> pointers;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool replaced =
        std::any_of(request.environment.begin(), request.environment.end(),
                    [name](const std::string& own) { return own.starts_with(name); });
    if (!replaced) pointers.push_back(*variable);
  }
  for (const std::string& own : request.environment) {
    pointers.push_back(const_cast<char*>(own.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Shows the first MiB of what the child prints and keeps the last 16 KiB.
class Output {
 public:
  void add(std::string_view bytes) {
    const std::string_view shown = bytes.substr(0, most_output_shown - shown_);
    write_all(STDERR_FILENO, shown);
    shown_ += shown.size();
    if (shown.size() < bytes.size() && !cut_) {
      cut_ = true;
      write_all(STDERR_FILENO, "\nopseal: further output of the child is not shown\n");
    }
    tail_ += bytes;
    if (tail_.size() > most_output_kept) tail_.erase(0, tail_.size() - most_output_kept);
  }
  std::string take_tail() { return std::move(tail_); }

 private:
  std::size_t shown_ = 0;
  bool cut_ = false;
  std::string tail_;
};

// A started child. Whatever way the wait for it ends, its whole group is gone afterwards.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) { ::setpgid(process, process); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  // Leaves the child a zombie: until it is reaped its number, and so that of its group, cannot be
  // given to another.
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == process_;
  }

  // Kills what is left of the group and returns the wait status.
  int end() {
    if (process_ <= 0) return status_;
    ::kill(-process_, SIGKILL);
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status_;
  }

 private:
  pid_t process_;
  int status_ = 0;
};

// What one read brought; 0 bytes: the other side has closed.
std::string_view read_some(Descriptor& descriptor, std::array<char, 65536>& buffer) {
  const ssize_t count = ::read(descriptor.number(), buffer.data(), buffer.size());
  if (count > 0) return {buffer.data(), static_cast<std::size_t>(count)};
  if (count == 0 || errno != EINTR) descriptor.close();
  return {};
}

bool is_ready(const pollfd& entry) { return (entry.revents & (POLLIN | POLLHUP | POLLERR)) != 0; }

// Listens until the child has ended and its pipes are empty.
class Listener {
 public:
  Listener(const ChildRequest& request, Descriptor answer_pipe, Descriptor output_pipe,
           Clock::time_point start)
      : answer_limit_(request.answer_limit),
        answer_pipe_(std::move(answer_pipe)),
        output_pipe_(std::move(output_pipe)),
        deadline_(start + wait_of(request.time_limit_seconds)) {}

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

int start_error(Descriptor& descriptor) {
  int error = 0;
  const ssize_t count = ::read(descriptor.number(), &error, sizeof error);
  return count == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace

ChildResult run_child(const ChildRequest& request) {
  const Descriptor input = make_input(request.input);
  Pipe answer = make_pipe();
  Pipe output = make_pipe();
  Pipe starting = make_pipe();
  const std::vector<char*> arguments = argument_pointers(request);
  const std::vector<char*> environment = environment_pointers(request);
  const ChildDescriptors descriptors{input.number(), answer.write_end.number(),
                                     output.write_end.number(), starting.write_end.number()};
  const Clock::time_point start = Clock::now();
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) fail("fork");
  if (process == 0) become_program(arguments.data(), environment.data(), descriptors, parent);

  Child child(process);
  for (Pipe* pipe : {&answer, &output, &starting}) pipe->write_end.close();
  ChildResult result;
  // Closed by a successful exec, so this does not wait for the program.
  if (const int error = start_error(starting.read_end); error != 0) {
    result.code = error;
    return result;
  }
  Listener listener(request, std::move(answer.read_end), std::move(output.read_end), start);
  result.end = listener.listen(child);
  const int status = child.end();
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
