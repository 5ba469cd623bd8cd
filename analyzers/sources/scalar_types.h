#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzers/source/tokens.h"

namespace opseal {

// What torch's C++ headers call its dtypes. Dtypes are given in opseal's own spelling, `f32`.

// `at::ScalarType::Half`, `torch::kFloat16`; empty where the tokens are nothing of the kind.
std::string_view scalar_type_of(Tokens tokens);
// `Half`
std::string_view dtype_of_enumerator(std::string_view name);

// The dtypes that a dispatch macro has by itself, and how many enumerators it takes in front of
// what it tests: `FLOATING_TYPES_AND2` is f32 and f64, and two. Nothing where the group is unknown.
struct DispatchGroup {
  std::vector<std::string_view> dtypes;
  std::size_t further = 0;
};
std::optional<DispatchGroup> dispatch_group(std::string_view name);

}  // namespace opseal
