#pragma once

#include <cstdint>
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

// Bytes of a file; the end is not in it.
struct TextRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// The lines for which the comments of a file accept what a rule finds: each its own, and the one
// below those that stand alone.
std::vector<TextRange> accepted_lines(std::string_view bytes,
                                      const std::vector<IgnoreComment>& comments,
                                      std::string_view rule);

}  // namespace opseal
