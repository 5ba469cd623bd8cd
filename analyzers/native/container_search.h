#pragma once

#include <vector>

#include "analyzers/native/device_images.h"
#include "analyzers/native/fat_binary.h"

namespace opseal {

class Elf;

// Looks for fat binaries and HIP bundles in the sections of a host file that may hold some, side by
// side on `options.threads` threads, and adds them to `images` and `entries` in the order of the
// sections; where there are no section headers, in all of the file. Damage becomes problems; never
// throws InputError.
void search_containers(const Elf& elf, const ImageOptions& options, DeviceImages& images,
                       std::vector<FatEntry>& entries);

}  // namespace opseal
