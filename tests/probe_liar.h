#pragma once

#include <string_view>

namespace opseal::test {

inline constexpr std::string_view liar_argument = "--probe-liar";

// A child of the pool that keeps to what the pool expects until it is asked to `lie KIND`: code
// that has found out all that a child knows can do no worse. Returns the exit status.
int run_liar();

}  // namespace opseal::test
