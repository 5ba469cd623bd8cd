#pragma once

#include <string>

namespace opseal {

// JSON Schemas, draft 2020-12, as text with a line break at the end.

std::string manifest_schema();
std::string report_schema();
std::string config_schema();

}  // namespace opseal
