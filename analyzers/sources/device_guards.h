#pragma once

#include <string>
#include <string_view>

#include "analyzers/source/plain_source.h"

namespace opseal {

// How the body of a function hangs on the architecture that it is compiled for.
struct BodyGuard {
  // Under which it does its work; empty: some of it stands outside, or no architecture is compared.
  std::string condition;
  // What it is elsewhere: `nothing`, `assert` (which release builds drop), `trap`, `code`.
  std::string_view otherwise;
};

// Needs: the range is inside the braces of a function.
BodyGuard guard_of_body(const PlainSource& source, TokenRange body);

}  // namespace opseal
