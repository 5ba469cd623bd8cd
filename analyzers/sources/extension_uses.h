#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzers/sources/extension_modules.h"
#include "analyzers/sources/extension_paths.h"
#include "analyzers/sources/extensions.h"

namespace opseal {

// Adds what one file of Python asks of modules, while there are less than `most` uses.
void read_extension_uses(const PythonFile& file, std::uint32_t number, ExtensionPaths& names,
                         ExtensionModules& modules, std::size_t most,
                         std::vector<ExtensionUse>& uses);

}  // namespace opseal
