#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace opseal {

struct SandboxOptions {
  // The only folder in which files may be made and written. Empty: none.
  std::string scratch{};
  // Bytes of address space; 0: no limit. A program with sanitizers has none in any case.
  std::size_t memory_limit = std::size_t{4} << 30;
  // A framework starts compilers and loads what they built: system calls are not refused then, so
  // that what Landlock and the network's namespace don't hold back is possible, and neither memory
  // nor tasks are limited.
  bool may_start_programs = false;
  // False: as on a kernel that has no Landlock.
  bool use_landlock = true;
};

// Shuts this process in, for good: no new privileges and no capabilities; limits on memory, open
// files, processes and core files; no network (a network namespace of its own where the kernel
// allows it, and seccomp); no writing outside the scratch folder (Landlock; where the kernel lacks
// it, opening for writing is refused by seccomp everywhere); no new processes and no other
// programs; no signals to, and no looking into, other processes. Threads may be made. Returns what
// the kernel lacked, each in words, of which nothing is dropped silently; threads that are there
// already are held back by seccomp alone, and that is said, too. What is started afterwards is shut
// in likewise.
std::vector<std::string> enter_sandbox(const SandboxOptions& options);

}  // namespace opseal
