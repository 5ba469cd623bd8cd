#pragma once

#include <string_view>

namespace opseal {

// Set by CMakeLists.txt from `project(VERSION)`.
inline constexpr char version_text[] = OPSEAL_VERSION;

}  // namespace opseal
