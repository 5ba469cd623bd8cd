// The order matters: what takes privileges to set up comes before they are given away, and the
// filter of system calls, which refuses most of what is done here, is last.

#include "analyzers/probe/sandbox.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "analyzers/child_process.h"
#include "analyzers/probe/landlock.h"
#include "analyzers/probe/system_calls.h"
#include "analyzers/process_limits.h"

namespace opseal {
namespace {

using Lacks = std::vector<std::string>;

constexpr rlim_t most_open_files = 1024;
// Counts all that the user runs, threads too; what this process may start is refused elsewhere.
constexpr rlim_t most_tasks = 4096;
constexpr rlim_t most_file_bytes = rlim_t{256} << 20;

std::string with_error(const std::string& what) { return what + ": " + std::strerror(errno); }

bool write_file(const char* path, const std::string& text) {
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  return file.is_open() && write_all(file.number(), text);
}

// The user stays who he was, so that a library that asks for his name or home gets them.
bool map_user(uid_t user, gid_t group) {
  return write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map",
                    std::to_string(user) + ' ' + std::to_string(user) + " 1") &&
         write_file("/proc/self/gid_map",
                    std::to_string(group) + ' ' + std::to_string(group) + " 1");
}

void leave_network(Lacks& lacks) {
  if (::unshare(CLONE_NEWNET) == 0) return;
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    lacks.push_back(with_error("no network namespace of its own"));
  } else if (!map_user(user, group)) {
    lacks.push_back(with_error("the user has no name in a namespace of its own"));
  }
}

void limit_resources(const SandboxOptions& options) {
  limit_for_good(RLIMIT_CORE, 0);
  limit_for_good(RLIMIT_NOFILE, most_open_files);
  limit_for_good(RLIMIT_FSIZE, most_file_bytes);
  if (options.may_start_programs) return;
  limit_for_good(RLIMIT_NPROC, most_tasks);
  if (options.memory_limit != 0 && can_limit_memory()) {
    limit_for_good(RLIMIT_AS, options.memory_limit);
  }
}

void drop_capabilities(Lacks& lacks) {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // Ends at the first that the kernel doesn't know. Refused where there are none to drop.
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;) {
    ++capability;
  }
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) {
    lacks.push_back(with_error("capabilities are kept"));
  }
}

// What seccomp refuses as well, as TCP and signals, isn't missed where an older Landlock can't.
void say_what_landlock_lacks(int version, Lacks& lacks) {
  const std::string old = "Landlock " + std::to_string(version) + ": ";
  if (version < landlock_handles_truncation) {
    lacks.push_back(old + "files can't be cut by name, not even in the scratch folder");
  }
  if (version < landlock_handles_devices) {
    lacks.push_back(old + "devices that can be read can also be sent commands");
  }
}

// Whether writing is shut in.
bool shut_in_files(const SandboxOptions& options, int version, Lacks& lacks) {
  if (version == 0 && options.may_start_programs) {
    lacks.push_back("no Landlock: what a framework starts can write anywhere");
    return false;
  }
  if (version == 0) {
    lacks.push_back(
        "no Landlock: nothing can be opened for writing, not even in the scratch folder, and what "
        "other processes of the same user hold in memory can be read");
    return false;
  }
  const LandlockOutcome outcome = restrict_with_landlock(version, options.scratch);
  if (!outcome.problem.empty()) lacks.push_back(outcome.problem);
  if (outcome.holds) say_what_landlock_lacks(version, lacks);
  return outcome.holds;
}

// Other threads of this process.
// Nothing: the kernel doesn't show them.
std::optional<std::size_t> count_others() {
  std::error_code error;
  std::filesystem::directory_iterator task("/proc/self/task", error);
  std::size_t count = 0;
  for (; !error && task != std::filesystem::directory_iterator(); task.increment(error)) ++count;
  if (error || count == 0) return {};
  return count - 1;
}

void refuse_the_rest(const SystemCallOptions& options, Lacks& lacks) {
  const std::string problem = refuse_system_calls(options);
  if (problem.empty()) return;
  lacks.push_back("system calls are not refused (" + problem +
                  "): new processes, other programs, network and signals are possible");
}

}  // namespace

std::vector<std::string> enter_sandbox(const SandboxOptions& options) {
  Lacks lacks;
  const std::optional<std::size_t> others = count_others();
  if (!others) {
    lacks.push_back(
        "whether other threads of it ran before is not known, and only system calls are refused "
        "to them");
  } else if (*others > 0) {
    lacks.push_back(std::to_string(*others) +
                    " of its threads ran before, and only system calls are refused to them");
  }
  int death_signal = 0;
  ::prctl(PR_GET_PDEATHSIG, &death_signal);
  leave_network(lacks);
  limit_resources(options);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    lacks.push_back(with_error("privileges can be gained"));
  }
  drop_capabilities(lacks);
  const int version = options.use_landlock ? landlock_version() : 0;
  SystemCallOptions refused;
  refused.refuse_writing = !shut_in_files(options, version, lacks);
  refused.refuse_truncation = version < landlock_handles_truncation;
  refused.all_threads = !others || *others > 0;
  // A change of privileges may have cleared it.
  ::prctl(PR_SET_PDEATHSIG, death_signal);
  if (!options.may_start_programs) refuse_the_rest(refused, lacks);
  return lacks;
}

}  // namespace opseal
