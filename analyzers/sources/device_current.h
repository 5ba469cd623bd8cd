#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/device_launches.h"

namespace opseal {

// A name that makes a device the current one: `CUDAGuard`, `CUDA_DEVICE_GUARD`, `cudaSetDevice`.
// What only may do so counts.
bool guards_device(std::string_view name);

// A parameter that is a tensor, which says on which device it lies.
bool takes_tensors(Tokens parameters);

// Fills in `KernelLaunch::pinned`. Gives names of functions without a guard in files where others
// have one, whose callers in further files may have it.
std::vector<std::string> join_current_device(const std::vector<LaunchCode*>& codes);

}  // namespace opseal
