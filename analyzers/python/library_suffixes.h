#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/parsed.h"
#include "analyzers/python/syntax.h"

namespace opseal {

// A function or name that gives the suffix of libraries, `.so` on one system and another elsewhere.
struct PythonSuffixChooser {
  std::string name;
  PythonPlace place;
};

// A suffix in the name of a library.
struct PythonSuffixUse {
  // What stands before the suffix, as far as the text tells: `name` of `name + ".so"`.
  std::string stem;
  // The chooser; empty for `.so` itself.
  std::string chooser;
  PythonPlace place;
  // Of the function around it, or the statement of the module.
  PythonPlace around;
  // Picks files of a folder out: `f.endswith(".so")`, `folder.glob("*.so")`.
  bool picks = false;
  // Something around it asks for the system, or names the suffix of another one.
  bool asks = false;
};

struct PythonLibrarySuffixes {
  std::vector<PythonSuffixUse> uses;
  // The file asks for the system anywhere.
  bool asks = false;
};

std::vector<PythonSuffixChooser> find_suffix_choosers(const ParsedPython& file);
// `choosers`: names of this file or of others.
PythonLibrarySuffixes find_library_suffixes(const ParsedPython& file,
                                            const std::set<std::string, std::less<>>& choosers);

}  // namespace opseal
