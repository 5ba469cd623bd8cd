// What is refused fails with EPERM, so that a library that can do without goes on, and is not ended
// by a signal. Rules look at numbers alone: what a pointer points to may change behind the check.

#include "analyzers/probe/system_calls.h"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>

namespace opseal {
namespace {

// Names and not numbers: one that the library or this architecture doesn't know is passed over.
constexpr std::array always_refused = {
    // New processes and programs.
    "fork", "vfork", "execve", "execveat", "setsid", "setpgid",
    // Network. What needs no name could be allowed, but nothing that computes needs it.
    "socket", "socketpair", "socketcall", "bind", "connect", "listen", "accept", "accept4",
    "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown", "getsockopt",
    "setsockopt", "getsockname", "getpeername",
    // A second way to most calls, which no filter sees.
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    // Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kcmp", "migrate_pages", "move_pages",
    "setpriority", "ioprio_set", "sched_setscheduler", "sched_setparam", "sched_setattr",
    // Large parts of the kernel, of which much has been misused.
    "bpf", "perf_event_open", "userfaultfd", "fanotify_init", "lookup_dcookie", "modify_ldt",
    "vm86", "vm86old", "uselib", "nfsservctl",
    // Views of the file system.
    "mount", "umount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "swapon", "swapoff", "quotactl",
    "quotactl_fd", "acct", "unshare", "setns", "open_by_handle_at",
    // Privileges.
    "keyctl", "add_key", "request_key", "setuid", "setgid", "setreuid", "setregid", "setresuid",
    "setresgid", "setfsuid", "setfsgid", "setgroups", "setuid32", "setgid32", "setreuid32",
    "setregid32", "setresuid32", "setresgid32", "setfsuid32", "setfsgid32", "setgroups32", "capset",
    "personality",
    // The system.
    "init_module", "finit_module", "delete_module", "create_module", "kexec_load",
    "kexec_file_load", "reboot", "iopl", "ioperm", "syslog", "vhangup", "sethostname",
    "setdomainname", "settimeofday", "stime", "clock_settime", "clock_settime64", "adjtimex",
    "clock_adjtime", "clock_adjtime64",
    // What belongs to a file and is not its bytes, which Landlock doesn't guard.
    "chmod", "fchmod", "fchmodat", "chown", "lchown", "fchown", "fchownat", "chown32", "lchown32",
    "fchown32", "mknod", "mknodat", "link", "linkat", "symlink", "symlinkat", "utime", "utimes",
    "futimesat", "utimensat", "utimensat_time64", "setxattr", "lsetxattr", "fsetxattr",
    "removexattr", "lremovexattr", "fremovexattr",
    // What outlives a process, and others can see.
    "shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop",
    "semtimedop_time64", "msgget", "msgsnd", "msgrcv", "msgctl", "ipc", "mq_open", "mq_unlink"};

// Newer than some versions of the library, and since 424 numbers are the same everywhere.
constexpr std::array<int, 5> always_refused_numbers = {
    452,  // fchmodat2
    463,  // setxattrat
    466,  // removexattrat
    467,  // open_tree_attr
    469,  // file_setattr
};

constexpr std::array change_names = {"creat",    "truncate", "truncate64", "unlink",
                                     "unlinkat", "rename",   "renameat",   "renameat2",
                                     "mkdir",    "mkdirat",  "rmdir"};

// A new process shares no thread group; flags are the first argument on x86-64 and AArch64.
constexpr scmp_datum_t thread_flag = 0x00010000;

// Requests that put bytes into a terminal as if they were typed.
constexpr scmp_datum_t type_into_terminal = 0x5412;
constexpr scmp_datum_t type_into_console = 0x541C;

constexpr scmp_datum_t lower_half = 0xffffffff;

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW)) {}

  void refuse(const char* name, std::initializer_list<scmp_arg_cmp> arguments = {},
              int error = EPERM) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (number != __NR_SCMP_ERROR) refuse(number, arguments, error);
  }

  void refuse(int number, std::initializer_list<scmp_arg_cmp> arguments = {}, int error = EPERM) {
    if (!context_) return;
    const int result = ::seccomp_rule_add_array(
        context_.get(), SCMP_ACT_ERRNO(static_cast<std::uint16_t>(error)), number,
        static_cast<unsigned>(arguments.size()), arguments.begin());
    // Of a call that only other architectures have.
    if (result < 0 && result != -EDOM && problem_.empty()) {
      problem_ =
          "no rule for system call " + std::to_string(number) + ": " + std::strerror(-result);
    }
  }

  std::string load(bool all_threads) {
    if (!context_) return "no memory for rules";
    // Calls as another architecture's program makes them, whose numbers mean other calls.
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    // Several hundred rules as a tree and not as a list.
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
    // Without this, older kernels slow down all that runs under a filter.
    ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_SSB, 1);
    if (all_threads) ::seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    if (const int result = ::seccomp_load(context_.get()); result < 0) {
      return std::strerror(-result);
    }
    return problem_;
  }

 private:
  struct Release {
    void operator()(void* context) const { ::seccomp_release(context); }
  };
  std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, Release> context_;
  std::string problem_;
};

// The kernel reads so much of the argument, whatever lies above it.
scmp_arg_cmp is(unsigned argument, scmp_datum_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, lower_half, value};
}

scmp_arg_cmp has_bits(unsigned argument, scmp_datum_t mask, scmp_datum_t bits) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, bits};
}

void refuse_processes(Filter& filter) {
  filter.refuse("clone", {has_bits(0, thread_flag, 0)});
  // Its flags are behind a pointer; the C library takes `clone` where there is none.
  filter.refuse("clone3", {}, ENOSYS);
}

// Those to this process are what `abort` and many run-time libraries are made of.
void refuse_signals(Filter& filter) {
  const auto self = static_cast<scmp_datum_t>(::getpid());
  const scmp_arg_cmp other{0, SCMP_CMP_NE, self, 0};
  for (const char* name : {"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"}) {
    filter.refuse(name, {other});
  }
  // Whoever owns a file gets its signals.
  for (const int command : {F_SETOWN, F_SETOWN_EX}) {
    filter.refuse("fcntl", {is(1, static_cast<scmp_datum_t>(command))});
  }
  filter.refuse("prctl", {is(0, PR_SET_PDEATHSIG)});
}

// All but this process's own processor time, which it gives itself anew with each question.
void refuse_limits(Filter& filter) {
  const scmp_arg_cmp other_limit{1, SCMP_CMP_NE, RLIMIT_CPU, 0};
  const scmp_arg_cmp other_process{0, SCMP_CMP_NE, 0, 0};
  const scmp_arg_cmp changed{2, SCMP_CMP_NE, 0, 0};
  filter.refuse("prlimit64", {other_limit, changed});
  filter.refuse("prlimit64", {other_process, changed});
  filter.refuse("setrlimit", {{0, SCMP_CMP_NE, RLIMIT_CPU, 0}});
}

void refuse_opening(Filter& filter, scmp_datum_t mask, scmp_datum_t bits) {
  filter.refuse("open", {has_bits(1, mask, bits)});
  filter.refuse("openat", {has_bits(2, mask, bits)});
}

void refuse_writing(Filter& filter) {
  for (const int flag : {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC}) {
    const auto bits = static_cast<scmp_datum_t>(flag);
    refuse_opening(filter, bits, bits);
  }
  // Its flags are behind a pointer.
  filter.refuse("openat2", {}, ENOSYS);
  for (const char* name : change_names) filter.refuse(name);
}

}  // namespace

std::string refuse_system_calls(const SystemCallOptions& options) {
  Filter filter;
  for (const char* name : always_refused) filter.refuse(name);
  for (const int number : always_refused_numbers) filter.refuse(number);
  refuse_processes(filter);
  refuse_signals(filter);
  refuse_limits(filter);
  for (const scmp_datum_t request : {type_into_terminal, type_into_console}) {
    filter.refuse("ioctl", {is(1, request)});
  }
  if (options.refuse_writing) {
    refuse_writing(filter);
  } else if (options.refuse_truncation) {
    filter.refuse("truncate");
    filter.refuse("truncate64");
    // Also by opening for reading.
    refuse_opening(filter, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC);
  }
  return filter.load(options.all_threads);
}

}  // namespace opseal
