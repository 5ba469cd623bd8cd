#pragma once

#include <set>
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

struct LeadingIncludes {
  // Lines that mean the same wherever they stand.
  std::string text;
  // Macros of which they ask whether they are defined.
  std::set<std::string> asked;
};

// The directives with which a source begins and which bring headers from outside of its tree:
// includes, macros that are defined before them, and conditionals that hold nothing else. Headers
// of the tree are looked into, for what they begin with comes first too. It ends before anything
// else. A source that has the lines twice reads as if it had them once, unless one of the headers
// defines what they ask. No text where the first thing is another.
LeadingIncludes leading_includes(const std::string& path, const std::string& root,
                                 const std::vector<std::string>& flags);

}  // namespace opseal
