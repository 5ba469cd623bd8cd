#pragma once

#include <string>

namespace opseal {

struct SystemCallOptions {
  // Opening for writing, and changing names of files, is refused wherever they are.
  bool refuse_writing = false;
  // Truncation by name is refused, of which the first versions of Landlock know nothing.
  bool refuse_truncation = false;
  // Also to threads that are there already.
  bool all_threads = false;
};

// From now on this process makes no processes, starts no programs, has no network, signals nobody
// but itself, gains no privileges and changes nothing of the system; its threads are free. Returns
// what failed, in words; empty: it holds. Needs: the only thread, but
// for `all_threads`.
std::string refuse_system_calls(const SystemCallOptions& options);

}  // namespace opseal
