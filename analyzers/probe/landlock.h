#pragma once

#include <string>

namespace opseal {

// What the kernel's Landlock can do, by the version of its interface. 0: there is none.
int landlock_version();

struct LandlockOutcome {
  bool holds = false;
  // What failed, in words, also where the rest holds.
  std::string problem;
};

// From now on this process can't change files outside a folder, nor bind or connect by TCP, nor
// signal or look into processes that are not shut in with it. `scratch` empty: no folder.
// Needs: no new privileges.
LandlockOutcome restrict_with_landlock(int version, const std::string& scratch);

// The first versions that handle these.
inline constexpr int landlock_handles_truncation = 3;
inline constexpr int landlock_handles_tcp = 4;
inline constexpr int landlock_handles_devices = 5;
inline constexpr int landlock_handles_signals = 6;

}  // namespace opseal
