// Written from the kernel's documentation (userspace-api/landlock). The interface is declared here
// and not taken from the system's headers, since these may be far older than the kernel that runs:
// what they don't declare would stay allowed in silence.

#include "analyzers/probe/landlock.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "analyzers/child_process.h"

namespace opseal {
namespace {

// The same on every architecture.
#ifdef SYS_landlock_create_ruleset
constexpr long create_ruleset = SYS_landlock_create_ruleset;
constexpr long add_rule = SYS_landlock_add_rule;
constexpr long restrict_self = SYS_landlock_restrict_self;
#else
constexpr long create_ruleset = 444;
constexpr long add_rule = 445;
constexpr long restrict_self = 446;
#endif

constexpr std::uint32_t ask_version = 1;
constexpr int rule_path_beneath = 1;

// A kernel takes a longer structure if what it doesn't know is 0.
struct Ruleset {
  std::uint64_t handled_files = 0;
  std::uint64_t handled_network = 0;
  std::uint64_t scoped = 0;
};

// The kernel's is packed; it reads so many bytes alone, and the padding of ours lies behind them.
struct PathBeneath {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

constexpr std::uint64_t bit(unsigned number) { return std::uint64_t{1} << number; }

constexpr std::uint64_t write_file = bit(1);
// Removing of folders and files; making of devices, folders, files, sockets, pipes and links.
constexpr std::uint64_t remove_and_make =
    bit(4) | bit(5) | bit(6) | bit(7) | bit(8) | bit(9) | bit(10) | bit(11) | bit(12);
constexpr std::uint64_t make_devices = bit(6) | bit(11);
constexpr std::uint64_t refer = bit(13);
constexpr std::uint64_t truncate = bit(14);
constexpr std::uint64_t device_ioctl = bit(15);
constexpr std::uint64_t bind_and_connect = bit(0) | bit(1);
constexpr std::uint64_t abstract_sockets_and_signals = bit(0) | bit(1);

Ruleset ruleset_of(int version) {
  Ruleset rules;
  rules.handled_files = write_file | remove_and_make;
  if (version >= 2) rules.handled_files |= refer;
  if (version >= landlock_handles_truncation) rules.handled_files |= truncate;
  if (version >= landlock_handles_devices) rules.handled_files |= device_ioctl;
  if (version >= landlock_handles_tcp) rules.handled_network = bind_and_connect;
  if (version >= landlock_handles_signals) rules.scoped = abstract_sockets_and_signals;
  return rules;
}

std::string failed(const std::string& what) { return what + ": " + std::strerror(errno); }

std::string allow_beneath(int ruleset, const std::string& path, std::uint64_t allowed) {
  PathBeneath rule;
  const Descriptor parent(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!parent.is_open()) return failed("can't open `" + path + '`');
  rule.allowed = allowed;
  rule.parent = parent.number();
  if (::syscall(add_rule, ruleset, rule_path_beneath, &rule, 0) == 0) return {};
  return failed("Landlock doesn't take `" + path + '`');
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(create_ruleset, nullptr, std::size_t{0}, ask_version);
  return version > 0 ? static_cast<int>(version) : 0;
}

LandlockOutcome restrict_with_landlock(int version, const std::string& scratch) {
  const Ruleset rules = ruleset_of(version);
  const Descriptor ruleset(
      static_cast<int>(::syscall(create_ruleset, &rules, sizeof rules, std::uint32_t{0})));
  if (!ruleset.is_open()) return {false, failed("Landlock makes no ruleset")};
  std::string problem;
  if (!scratch.empty()) {
    problem = allow_beneath(ruleset.number(), scratch,
                            rules.handled_files & ~(make_devices | device_ioctl));
  }
  // What is written there is lost, and many libraries do.
  allow_beneath(ruleset.number(), "/dev/null", rules.handled_files & (write_file | truncate));
  if (::syscall(restrict_self, ruleset.number(), std::uint32_t{0}) != 0) {
    return {false, failed("Landlock doesn't shut this process in")};
  }
  return {true, problem};
}

}  // namespace opseal
