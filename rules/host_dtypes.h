#pragma once

#include <string>
#include <string_view>

#include "opseal/dtypes.h"
#include "opseal/text.h"

namespace opseal {

inline bool is_host(std::string_view platform) {
  const std::string name = lower(platform);
  return name == "host" || name == "cpuexecutionprovider" || name.starts_with("cpu");
}

// The formats of accelerators. Kernels for them on the host are nobody's plan.
inline bool is_narrow_float(const Dtype& dtype) {
  return dtype.kind == DtypeKind::floating && dtype.bits < 32;
}

}  // namespace opseal
