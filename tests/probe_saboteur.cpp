#include "tests/probe_saboteur.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <thread>
#include <vector>

#include "analyzers/child_process.h"
#include "analyzers/probe/child.h"

namespace opseal::test {
namespace {

using Deed = std::function<std::string(const std::string&)>;

// "done", or how the call failed.
std::string told(long result) { return result >= 0 ? "done" : std::strerror(errno); }

[[noreturn]] void spin() {
  for (volatile unsigned turn = 0;;) turn = turn + 1;
}

unsigned overflow_stack(unsigned turns) {
  volatile char room[4096];
  room[0] = static_cast<char>(turns);
  return turns == 0 ? 0 : overflow_stack(turns - 1) + static_cast<unsigned>(room[0]);
}

std::string write_answer_pipe(std::string_view bytes) {
  write_all(child_answer_descriptor, bytes);
  return "written";
}

std::string eat_memory() {
  std::vector<char*> blocks;
  for (;;) {
    constexpr std::size_t size = std::size_t{64} << 20;
    blocks.push_back(new char[size]);
    // Only what is touched is there.
    std::memset(blocks.back(), 1, size);
  }
}

std::string fork_bomb() {
  for (int turn = 0; turn < 10000; ++turn) {
    const pid_t made = ::fork();
    if (made == 0) ::sleep(1000);
    if (made < 0) return told(-1);
  }
  return "forked";
}

std::string print_for_ever() {
  for (;;) std::puts("a line that nobody wants to read");
}

// A thread that outlives the answer, and then crashes.
std::string leave_thread() {
  std::thread([] {
    ::usleep(300000);
    std::abort();
  }).detach();
  return "answered before the crash";
}

void say_and_die(int) {
  say_last_words("these are the last words");
  ::_exit(7);
}

std::string speak_in_handler() {
  struct sigaction action {};
  action.sa_handler = say_and_die;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::raise(SIGSEGV);
  return "unreachable";
}

std::string run_threads() {
  std::vector<int> done(8);
  std::vector<std::thread> threads;
  for (int& one : done) threads.emplace_back([&one] { one = 1; });
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  for (const int one : done) sum += one;
  return std::to_string(sum);
}

std::string open_for_writing(const std::string& path, int flags) {
  const Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!file.is_open()) return told(-1);
  return write_all(file.number(), "text") ? "done" : told(-1);
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return told(-1);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string open_by_structure(const std::string& path) {
  open_how how{};
  how.flags = O_WRONLY | O_CREAT;
  how.mode = 0600;
  return told(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
}

std::string own_signal_of_parent() {
  int ends[2];
  if (::pipe(ends) != 0) return told(-1);
  return told(::fcntl(ends[0], F_SETOWN, ::getppid()));
}

std::string execute() {
  char name[] = "/bin/true";
  char* const arguments[] = {name, nullptr};
  return told(::execve(name, arguments, environ));
}

std::string set_limit(decltype(RLIMIT_CPU) what, const std::string& process) {
  rlimit limits{};
  ::getrlimit(what, &limits);
  limits.rlim_cur = 1000;
  return told(::prlimit(std::stoi(process), what, &limits, nullptr));
}

// A call of a second kind of program on x86-64, with numbers of its own.
std::string call_as_x32() {
  constexpr long x32 = 0x40000000;
  return told(::syscall(x32 | SYS_getpid));
}

const std::map<std::string_view, Deed>& deeds() {
  static const std::map<std::string_view, Deed> all{
      {"echo", [](const std::string& text) { return text; }},
      {"count",
       [](const std::string&) {
         static int count = 0;
         return std::to_string(++count);
       }},
      {"say",
       [](const std::string& text) {
         std::printf("%s", text.c_str());
         return "said";
       }},
      {"long", [](const std::string& size) { return std::string(std::stoul(size), 'x'); }},
      {"sleep",
       [](const std::string& seconds) {
         ::usleep(static_cast<useconds_t>(1e6 * std::stod(seconds)));
         return "slept";
       }},
      {"null",
       [](const std::string&) -> std::string {
         volatile int* nowhere = nullptr;
         *nowhere = 1;
         return "written";
       }},
      {"abort", [](const std::string&) -> std::string { std::abort(); }},
      {"throw", [](const std::string&) -> std::string { throw 1; }},
      {"exit", [](const std::string& code) -> std::string { std::exit(std::stoi(code)); }},
      {"spin", [](const std::string&) -> std::string { spin(); }},
      {"hang",
       [](const std::string&) -> std::string {
         for (;;) ::pause();
       }},
      {"flood", [](const std::string&) { return print_for_ever(); }},
      {"memory", [](const std::string&) { return eat_memory(); }},
      {"forks", [](const std::string&) { return fork_bomb(); }},
      {"garbage", [](const std::string&) { return write_answer_pipe(std::string(100000, 'g')); }},
      {"crumb", [](const std::string&) { return write_answer_pipe("g"); }},
      {"close",
       [](const std::string&) {
         ::close(child_answer_descriptor);
         return "closed";
       }},
      {"shut",
       [](const std::string&) -> std::string {
         ::close(child_answer_descriptor);
         for (;;) ::pause();
       }},
      {"deaf",
       [](const std::string&) {
         for (int at = child_answer_descriptor + 1; at < 100; ++at) ::close(at);
         return "deaf";
       }},
      {"input", [](const std::string&) { return std::getchar() == EOF ? "ended" : "was there"; }},
      {"where",
       [](const std::string& path) {
         std::string target(200, '\0');
         const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
         return length < 0 ? told(-1) : target.substr(0, static_cast<std::size_t>(length));
       }},
      {"parent", [](const std::string&) { return told(::kill(::getppid(), SIGKILL)); }},
      {"stack", [](const std::string&) { return std::to_string(overflow_stack(~0U)); }},
      {"stop",
       [](const std::string&) {
         ::raise(SIGSTOP);
         return "went on";
       }},
      {"kill",
       [](const std::string&) {
         ::raise(SIGKILL);
         return "went on";
       }},
      {"thread", [](const std::string&) { return leave_thread(); }},
      {"words", [](const std::string&) { return speak_in_handler(); }},
      {"threads", [](const std::string&) { return run_threads(); }},
      {"socket", [](const std::string&) { return told(::socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"write", [](const std::string& path) { return open_for_writing(path, O_WRONLY | O_CREAT); }},
      {"truncate",
       [](const std::string& path) { return told(::open(path.c_str(), O_RDONLY | O_TRUNC)); }},
      {"cut", [](const std::string& path) { return told(::truncate(path.c_str(), 0)); }},
      {"structure", [](const std::string& path) { return open_by_structure(path); }},
      {"remove", [](const std::string& path) { return told(::unlink(path.c_str())); }},
      {"folder", [](const std::string& path) { return told(::mkdir(path.c_str(), 0700)); }},
      {"mode", [](const std::string& path) { return told(::chmod(path.c_str(), 0777)); }},
      {"link", [](const std::string& path) { return told(::symlink("/", path.c_str())); }},
      {"read", [](const std::string& path) { return read_all(path); }},
      {"fork", [](const std::string&) { return told(::fork()); }},
      {"clone", [](const std::string&) { return told(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }},
      {"clone3", [](const std::string&) { return told(::syscall(SYS_clone3, nullptr, 0)); }},
      {"execute", [](const std::string&) { return execute(); }},
      {"signal", [](const std::string& process) { return told(::kill(std::stoi(process), 0)); }},
      {"owner", [](const std::string&) { return own_signal_of_parent(); }},
      {"orphan", [](const std::string&) { return told(::prctl(PR_SET_PDEATHSIG, 0)); }},
      {"session", [](const std::string&) { return told(::setsid()); }},
      {"files", [](const std::string& process) { return set_limit(RLIMIT_NOFILE, process); }},
      {"time", [](const std::string& process) { return set_limit(RLIMIT_CPU, process); }},
      {"x32", [](const std::string&) { return call_as_x32(); }},
      {"namespace", [](const std::string&) { return told(::unshare(CLONE_NEWUSER)); }},
      {"ring", [](const std::string&) { return told(::syscall(SYS_io_uring_setup, 1, nullptr)); }},
      {"type",
       [](const std::string&) {
         char key = 'x';
         return told(::ioctl(STDIN_FILENO, TIOCSTI, &key));
       }},
      {"memfd", [](const std::string&) { return told(::memfd_create("x", 0)); }},
      {"open", [](const std::string& number) { return told(::fcntl(std::stoi(number), F_GETFD)); }},
  };
  return all;
}

}  // namespace

std::string answer_or_spoil(std::string_view question) {
  const std::size_t space = std::min(question.find(' '), question.size());
  const auto deed = deeds().find(question.substr(0, space));
  if (deed == deeds().end()) return "no such deed";
  return deed->second(std::string(question.substr(std::min(space + 1, question.size()))));
}

}  // namespace opseal::test
