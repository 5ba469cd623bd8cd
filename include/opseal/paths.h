#pragma once

#include <string_view>

namespace opseal {

// The last component of a path with `/`; all of it where there is none.
inline std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace opseal
