#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/python/support_tables.h"
#include "analyzers/sources/dispatch_pairs.h"

namespace opseal {

// Sets that functions of a Python file let in, each as the predicate of what they look up.
void read_support_python(const std::vector<PythonSupport>& found, std::string_view path,
                         std::uint32_t file, std::vector<DispatchPair>& pairs);

}  // namespace opseal
