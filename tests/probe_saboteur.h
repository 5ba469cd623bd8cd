#pragma once

#include <string>
#include <string_view>

namespace opseal::test {

inline constexpr std::string_view saboteur_argument = "--probe-saboteur";

// Does in a child of the pool what it is asked to: `WORD REST`, where most words are a way to do
// harm. What it is not stopped from is answered with a sentence.
std::string answer_or_spoil(std::string_view question);

}  // namespace opseal::test
