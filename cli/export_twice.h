#pragma once

#include <string>

namespace opseal {

// What differs between two exports of one package, for people, or empty where nothing does but the
// order of lists whose order means nothing.
std::string export_differences(const std::string& first, const std::string& second);

}  // namespace opseal
