#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace opseal {

// The architectures (900) that a condition of the host lets through, as far as compilers make code
// for them: `(sm >= 90) && !(sm >= 100)`, `(prop.major >= 9)`. None where it asks for more than
// numbers of a capability, or where these can't be told from others.
std::optional<std::vector<std::uint32_t>> admitted_architectures(std::string_view condition);

}  // namespace opseal
