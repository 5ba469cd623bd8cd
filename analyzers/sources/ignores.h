#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/records.h"

namespace opseal {

// `// opseal: ignore(rule): reason`, in Python with `#`: whoever wrote the code knows of a finding
// there, and accepts it.
struct IgnoreComment {
  // Empty where none is named.
  std::string rule;
  // Empty where none is given.
  std::string reason;
  // Of the whole comment.
  SourcePlace place;
};

// One for each rule that a comment names. Texts that look like comments are none.
std::vector<IgnoreComment> read_ignores(std::string_view bytes, std::uint32_t file, bool python);

}  // namespace opseal
