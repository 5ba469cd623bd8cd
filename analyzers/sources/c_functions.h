#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/records.h"

namespace opseal {

// A function of C linkage that a source declares or defines. Types are words, as those of
// PythonForeign.
struct CFunction {
  std::string name;
  SourcePlace place;
  // What the parameters are can't be told: a macro, a branch or an ellipsis stands among them.
  bool open = false;
  std::vector<std::string> parameters;
  std::string result;
  BuildCondition when;
};

// Macros of a text that stand for a mark, `extern "C"` or another such macro, and for what else is
// said of a function.
void add_linkage_macros(std::string_view bytes, std::string_view mark,
                        std::set<std::string, std::less<>>& macros);

// Those that have one of the names. `is_c`: it is a source of C, where all have C linkage.
void read_c_functions(const PlainSource& source, bool is_c,
                      const std::set<std::string, std::less<>>& names,
                      const std::set<std::string, std::less<>>& macros,
                      std::vector<CFunction>& functions);

}  // namespace opseal
