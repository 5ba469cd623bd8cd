#pragma once

#include <cstdint>

#include "opseal/platforms.h"

namespace opseal {

// What stands behind an operator on a platform.
enum class Service : std::uint8_t {
  kernel,
  // Something is registered, and only raises.
  stub,
  nothing,
  // The walk couldn't see it.
  unknown
};

// Reads `kernels`, `stub_platforms`, `fallback` and the manifest's `devices` and
// `backend_fallbacks`. The kernels must all have been read.
Service service_of(const Fact& manifest, const Fact& op, const Fact& platform,
                   PlatformNames& names);

// The operator works without a kernel of its own, or nobody should call it: a function body, a
// deprecated operator, a version that a later one replaces.
bool needs_no_kernel(const Fact& op);

}  // namespace opseal
