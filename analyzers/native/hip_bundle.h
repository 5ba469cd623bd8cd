#pragma once

#include <cstdint>

#include "analyzers/native/device_images.h"

namespace opseal {

// Lists the code objects of the HIP bundles in a stretch of a file. `file`: for the places of
// problems.
void list_bundles(const Bytes& bytes, std::uint32_t file, DeviceImages& images);
bool is_bundle(std::string_view head);

}  // namespace opseal
