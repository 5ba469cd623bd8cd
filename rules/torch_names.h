#pragma once

#include <string_view>

namespace opseal {

// Names as torch builds them: `namespace::base.overload`.

inline std::string_view namespace_in(std::string_view name) {
  const std::size_t colons = name.find("::");
  return colons == name.npos ? std::string_view() : name.substr(0, colons);
}

inline std::string_view base_name(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  if (colons != name.npos) name.remove_prefix(colons + 2);
  return name.substr(0, name.find('.'));
}

inline std::string_view overload_name(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  if (colons != name.npos) name.remove_prefix(colons + 2);
  const std::size_t dot = name.find('.');
  return dot == name.npos ? std::string_view() : name.substr(dot + 1);
}

}  // namespace opseal
