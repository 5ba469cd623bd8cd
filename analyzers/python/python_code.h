#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/python/value_flow.h"

namespace opseal {

// A file whose functions and calls are looked at, with the way of its values.
class PythonCode {
 public:
  // Needs: the file outlives this.
  explicit PythonCode(const ParsedPython& file);
  PythonCode(const PythonCode&) = delete;
  PythonCode& operator=(const PythonCode&) = delete;

  PythonPlace place_of(SyntaxIndex index) const { return syntax.place_of(index); }
  // The function around a node, or none.
  SyntaxIndex function_of(SyntaxIndex node) const;
  // The calls that stand in a function itself; of the module where it is none.
  const std::vector<SyntaxIndex>& calls_in(SyntaxIndex function) const;

  std::string_view text;
  const PythonSyntax& syntax;
  const PythonScopes& scopes;
  ValueFlow flow;
  std::vector<SyntaxIndex> functions;

 private:
  std::map<SyntaxIndex, std::vector<SyntaxIndex>> calls_;
};

}  // namespace opseal
