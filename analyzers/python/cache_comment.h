#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

inline constexpr std::string_view cache_key_mark = "opseal: cache-key(";

// `# opseal: cache-key(NAME; kind=memory; backs=OTHER; required=source,flags; except=debug: why)`;
// in C++ with `covers=TYPE` or `covers=params(FUNCTION)`.
struct CacheComment {
  std::string name;
  std::string kind;
  std::string backs;
  std::vector<std::string> required;
  // Listed as required, and no word for an input.
  std::vector<std::string> unknown_words;
  std::vector<std::string> except;
  std::string covers;
};

// What stands between the brackets of such a comment.
CacheComment read_cache_comment(std::string_view said);

// The comment on the line above that on which a definition begins.
std::optional<CacheComment> cache_comment_above(std::string_view text, std::size_t definition);

}  // namespace opseal
