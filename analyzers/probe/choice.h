#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "opseal/text.h"

namespace opseal {

// Whether `--only` means this probe. `only`: identities, or globs over them; empty: all.
inline bool is_chosen(const std::vector<std::string>& only, const std::string& identity) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& glob) {
           return glob == identity || glob_match(glob, identity);
         });
}

}  // namespace opseal
