#pragma once

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/device_launches.h"

namespace opseal {

// What is sure of the device's capability where the host starts a kernel, by the function that
// does: `if (sm >= 90) { k<<<…>>>(x); }`, `if (sm < 90) return;`, `TORCH_CHECK(sm >= 90);`.
void read_launch_guards(const PlainSource& source, LaunchCode& code);

}  // namespace opseal
