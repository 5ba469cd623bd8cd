#include "analyzers/child_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <system_error>

namespace opseal {
namespace {

// Far beyond any real limit, and small enough for the arithmetic of the clock.
constexpr double longest_wait_seconds = 1e8;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// The child puts its descriptors at 0 to 3; ours lie above, so that none of those moves can
// overwrite the next one.
Descriptor out_of_the_way(const Descriptor& low) {
  Descriptor high(::fcntl(low.number(), F_DUPFD_CLOEXEC, child_answer_descriptor + 1));
  if (!high.is_open()) fail("fcntl");
  return high;
}

// What this process has open is no concern of the child: a file that someone opened without the
// flag would be a way out for code that is shut in.
void close_on_exec(int first) {
#ifdef SYS_close_range
  constexpr unsigned close_range_cloexec = 4;
  if (::syscall(SYS_close_range, first, ~0U, close_range_cloexec) == 0) return;
#endif
  // A kernel before 5.11.
  constexpr int most_descriptors = 65536;
  for (int at = first; at < most_descriptors; ++at) ::fcntl(at, F_SETFD, FD_CLOEXEC);
}

struct Becoming {
  char* const* arguments;
  char* const* environment;
  ProgramDescriptors descriptors;
  int start_error;
  pid_t parent;
  bool own_session;
};

// Runs between fork and exec, where only what is safe in a signal handler may be called.
[[noreturn]] void become_program(const Becoming& program) {
  if (program.own_session) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above took effect.
  if (::getppid() != program.parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::dup2(program.descriptors.input, STDIN_FILENO) >= 0 &&
      ::dup2(program.descriptors.output, STDOUT_FILENO) >= 0 &&
      ::dup2(program.descriptors.output, STDERR_FILENO) >= 0 &&
      ::dup2(program.descriptors.answer, child_answer_descriptor) >= 0) {
    close_on_exec(child_answer_descriptor + 1);
    ::execve(program.arguments[0], program.arguments, program.environment);
  }
  const int error = errno;
  // If even this fails the parent sees a child that ended with 127 and said nothing.
  [[maybe_unused]] const ssize_t written = ::write(program.start_error, &error, sizeof error);
  ::_exit(127);
}

std::vector<char*> argument_pointers(const ProgramStart& start) {
  std::vector<char*> pointers{const_cast<char*>(start.program.c_str())};
  for (const std::string& argument : start.arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// What this process has, with the program's own in place of those of the same names.
std::vector<char*> environment_pointers(const ProgramStart& start) {
  std::vector<char*> pointers;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool replaced =
        std::any_of(start.environment.begin(), start.environment.end(),
                    [name](const std::string& own) { return own.starts_with(name); });
    if (!replaced) pointers.push_back(*variable);
  }
  for (const std::string& own : start.environment) {
    pointers.push_back(const_cast<char*>(own.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Closed by a successful exec, so this does not wait for the program.
int read_start_error(const Descriptor& descriptor) {
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(descriptor.number(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace

ChildClock::duration wait_of(double seconds) {
  const double wait = std::isnan(seconds) ? 0 : std::clamp(seconds, 0.0, longest_wait_seconds);
  return std::chrono::duration_cast<ChildClock::duration>(std::chrono::duration<double>(wait));
}

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  const Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  return {out_of_the_way(read_end), out_of_the_way(write_end)};
}

Descriptor make_input(std::string_view bytes) {
  const Descriptor low(::memfd_create("opseal-input", MFD_CLOEXEC));
  if (!low.is_open()) fail("memfd_create");
  Descriptor input = out_of_the_way(low);
  if (!write_all(input.number(), bytes) || ::lseek(input.number(), 0, SEEK_SET) != 0) fail("write");
  return input;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string_view read_some(Descriptor& descriptor, std::span<char> buffer) {
  const ssize_t count = ::read(descriptor.number(), buffer.data(), buffer.size());
  if (count > 0) return {buffer.data(), static_cast<std::size_t>(count)};
  if (count == 0 || (errno != EINTR && errno != EAGAIN)) descriptor.close();
  return {};
}

void Tail::add(std::string_view bytes) {
  text_ += bytes;
  if (text_.size() > most_bytes_) text_.erase(0, text_.size() - most_bytes_);
}

bool Child::has_ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == process_;
}

int Child::end() {
  if (process_ <= 0) return status_;
  ::kill(-process_, SIGKILL);
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return status_;
}

StartedProgram start_program(const ProgramStart& start, const ProgramDescriptors& descriptors) {
  Pipe starting = make_pipe();
  const std::vector<char*> arguments = argument_pointers(start);
  const std::vector<char*> environment = environment_pointers(start);
  const Becoming program{arguments.data(), environment.data(),
                         descriptors,      starting.write_end.number(),
                         ::getpid(),       start.own_session};
  const pid_t process = ::fork();
  if (process < 0) fail("fork");
  if (process == 0) become_program(program);
  StartedProgram started{Child(process)};
  // Whoever comes first: the group must be there when it is killed.
  if (!start.own_session) ::setpgid(process, process);
  starting.write_end.close();
  started.error = read_start_error(starting.read_end);
  return started;
}

}  // namespace opseal
