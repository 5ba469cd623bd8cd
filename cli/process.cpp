#include "cli/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

extern char** environ;

namespace opseal {
namespace {

constexpr std::size_t most_errors = 64 * 1024;

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) {
      read_end = ends[0];
      write_end = ends[1];
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (read_end >= 0) ::close(read_end);
    close_write();
  }
  void close_write() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
};

// Both pipes at once, so that a child that fills one of them never waits for us.
void drain(const Pipe& output, const Pipe& errors, ProcessResult& result) {
  pollfd waiting[] = {{output.read_end, POLLIN, 0}, {errors.read_end, POLLIN, 0}};
  int open = 2;
  char buffer[65536];
  while (open > 0) {
    if (::poll(waiting, 2, -1) < 0 && errno != EINTR) break;
    for (pollfd& pipe : waiting) {
      if (pipe.fd < 0 || pipe.revents == 0) continue;
      const ssize_t got = ::read(pipe.fd, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        pipe.fd = -1;
        --open;
      } else if (&pipe == &waiting[0]) {
        result.output.append(buffer, static_cast<std::size_t>(got));
      } else {
        const std::size_t room = most_errors - std::min(most_errors, result.errors.size());
        result.errors.append(buffer, std::min(room, static_cast<std::size_t>(got)));
      }
    }
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments) {
  ProcessResult result;
  Pipe output;
  Pipe errors;
  if (output.read_end < 0 || errors.read_end < 0) return result;
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write_end, STDERR_FILENO);
  pid_t child = 0;
  result.started = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  output.close_write();
  errors.close_write();
  if (!result.started) return result;
  drain(output, errors, result);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace opseal
