#pragma once

#include <string>
#include <vector>

#include "analyzers/analyzers.h"
#include "analyzers/caches.h"
#include "analyzers/sources/load.h"
#include "cli/options.h"
#include "cli/settings.h"
#include "opseal/facts.h"

namespace opseal {

struct Discovered {
  struct Input {
    InputFile file;
    // One of the three is set: a file's reader, a directory's, or the files of a tree of sources.
    const Analyzer* analyzer = nullptr;
    CacheReader cache{};
    SourceFolder sources{};
    // Inputs below one given directory, or the one that was given, have the same number, from 1.
    std::uint32_t group = 0;
  };
  // Sorted by path, each once.
  std::vector<Input> inputs;
  // Given by name and of no kind that opseal knows, or not readable.
  std::vector<Problem> problems;
  std::vector<InputFile> problem_files;
  // Under given directories and of no kind that opseal knows.
  std::uint64_t other_files = 0;
  // Sources of tests, examples and vendored projects under given directories.
  std::uint64_t aside_sources = 0;
  // Left out because an `exclude` pattern matches.
  std::uint64_t excluded_files = 0;
  std::vector<std::string> remarks;
};

// Walks the given paths and tells each file's kind by its content, but of sources, which are told
// by their names: those below one given directory are one input, but for tests, examples and
// vendored projects (`own_tree_of`), and so are those that are given by name. A directory whose
// content shows that it is a cache, or which `[[cache]]` describes, is an input as a whole; the
// readers point into `settings`. Files that git ignores are left out (git's own rules, asked of git
// itself) unless `no_ignore`, or where a file or directory that git ignores is itself given; a
// symbolic link below a given directory is followed only to a file inside that directory.
Discovered discover(const Options& options, const Settings& settings);

// A path as reports name it: relative to `root` with `/`, or absolute outside it.
std::string shown_path(const std::string& path, const std::string& root);

// The folder that reports name paths from: the top of the repository that `directory` is in, else
// `directory` itself.
std::string find_root(const std::string& directory);

}  // namespace opseal
