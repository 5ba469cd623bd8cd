#include "analyzers/process_limits.h"

#include <algorithm>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OPSEAL_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPSEAL_SANITIZED
#endif

namespace opseal {

void limit_resource(LimitedResource what, rlim_t most) {
  rlimit limits{};
  if (::getrlimit(what, &limits) != 0) return;
  limits.rlim_cur = std::min(most, limits.rlim_max);
  ::setrlimit(what, &limits);
}

void limit_for_good(LimitedResource what, rlim_t most) {
  rlimit limits{};
  if (::getrlimit(what, &limits) != 0) return;
  limits.rlim_max = std::min(most, limits.rlim_max);
  limits.rlim_cur = limits.rlim_max;
  ::setrlimit(what, &limits);
}

bool can_limit_memory() {
#ifdef OPSEAL_SANITIZED
  return false;
#else
  return true;
#endif
}

void give_seconds(rlim_t seconds) {
  // The clock of the limit runs from the start of the process.
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto spent = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  limit_resource(RLIMIT_CPU, spent + seconds);
}

}  // namespace opseal
