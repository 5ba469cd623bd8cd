#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/native/device_images.h"

namespace opseal {

// The entry functions that a PTX module defines. Names are views into `text`. What is not
// understood is passed over: PTX has no damage that a scan could tell. Throws InputError where
// there are more than `most`.
std::vector<DeviceKernel> read_ptx_entries(std::string_view text,
                                           std::uint64_t most = most_kernels);

// Of `.version 9.0` and `.target sm_90a, debug`; empty where it isn't there.
struct PtxHeader {
  std::string_view version;
  std::string_view target;
};
PtxHeader read_ptx_header(std::string_view text);

}  // namespace opseal
