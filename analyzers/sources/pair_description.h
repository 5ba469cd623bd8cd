#pragma once

#include <string>
#include <vector>

namespace opseal {

// A support predicate and the dispatch that it speaks for, as `opseal.toml` names them
// (`[[pair]]`).
struct PairDescription {
  std::string name;
  // `path:function` each; the path is the end of one, and may be left out with its colon.
  std::string predicate;
  std::vector<std::string> dispatch;
  // Enumerators that need no kernel.
  std::vector<std::string> noop;
  // Functions that never return.
  std::vector<std::string> never_return;
};

}  // namespace opseal
