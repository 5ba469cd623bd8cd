#include "analyzers/probe/orphans.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {
namespace {

namespace fs = std::filesystem;

pid_t number_of(std::string_view text) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

// 0: it has ended, or the kernel shows no processes.
pid_t parent_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat", std::ios::binary);
  std::string text;
  std::getline(in, text, '\0');
  // `12 (any name, with spaces) S 1 ...`
  const std::size_t close = text.rfind(") ");
  if (close == text.npos || close + 4 > text.size()) return 0;
  const std::string_view rest = std::string_view(text).substr(close + 4);
  return number_of(rest.substr(0, rest.find(' ')));
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  std::error_code error;
  fs::directory_iterator entry("/proc", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const pid_t process = number_of(entry->path().filename().string());
    if (process > 0 && parent_of(process) == ::getpid()) children.push_back(process);
  }
  return children;
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::size_t end_orphans() {
  // What goes on starting others faster than that is not ended.
  constexpr int most_rounds = 100;
  std::size_t ended = 0;
  for (int round = 0; round < most_rounds; ++round) {
    const std::vector<pid_t> children = own_children();
    if (children.empty()) break;
    for (const pid_t child : children) {
      ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      const bool was_running = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
      ended += was_running ? 1 : 0;
    }
  }
  return ended;
}

}  // namespace opseal
