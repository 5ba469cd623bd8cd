#include "cli/json_text.h"

#include <nlohmann/json.hpp>

namespace opseal {

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string json_quote(std::string_view text) { return json_text(std::string(text)); }

}  // namespace opseal
