#pragma once

#include <string>
#include <string_view>

namespace opseal {

// Paths inside a package: `/` between names, relative to its root.

// The path as Python and the loader see it once the package is installed: without the folder of a
// wheel's `data` scheme and what stands in front of `site-packages`.
std::string_view installed_path(std::string_view path);

// Is absolute, or `..` leads out of it.
bool leads_outside(std::string_view path);

// Where a symbolic link leads, from the root of the package; empty where that is outside.
std::string link_target(std::string_view link, std::string_view target);

// By its name the file is a built library or device code.
bool is_named_like_library(std::string_view path);

// By its name the file is an archive that may hold libraries in turn.
bool is_named_like_archive(std::string_view path);

}  // namespace opseal
