#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace opseal {

// JSON on one line. Bytes that are no UTF-8 (paths, the output of other programs) become U+FFFD: a
// report that can't be parsed would be worth nothing.
std::string json_text(const nlohmann::ordered_json& value);

// A text as JSON, in its quotation marks.
std::string json_quote(std::string_view text);

}  // namespace opseal
