#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// The directories of the flags in which headers are looked for, in the order of the search, as
// paths that need no working directory.
struct HeaderFolders {
  std::vector<std::string> quoted;
  std::vector<std::string> all;
};
HeaderFolders header_folders(const std::vector<std::string>& flags);

// `-working-directory=`, or else where this process is.
std::string working_directory(const std::vector<std::string>& flags);

bool is_below(std::string_view path, std::string_view folder);

// The directives with which a source begins and which bring headers from outside of its tree, as
// lines that mean the same wherever they stand: includes, and macros that are defined before them.
// Headers of the tree are looked into, for what they begin with comes first too. It ends before
// anything else, so a source that has them twice reads as if it had them once. Empty where the
// first thing is another.
std::string leading_includes(const std::string& path, const std::string& root,
                             const std::vector<std::string>& flags);

}  // namespace opseal
