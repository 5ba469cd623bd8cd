#include "analyzers/python/python_code.h"

namespace opseal {

PythonCode::PythonCode(const ParsedPython& file)
    : text(file.syntax.text), syntax(file.syntax), scopes(file.scopes), flow(syntax, scopes) {
  for (SyntaxIndex at = 0; at < syntax.nodes.size(); ++at) {
    if (syntax.is(at, SyntaxKind::function_definition)) functions.push_back(at);
    if (syntax.is(at, SyntaxKind::call)) calls_[function_of(at)].push_back(at);
  }
}

SyntaxIndex PythonCode::function_of(SyntaxIndex node) const {
  SyntaxIndex scope = scopes.scope_of(node);
  for (std::size_t up = 0; up < PythonScopes::max_scopes && scope != no_syntax && scope != 0;
       ++up) {
    if (syntax.is(scope, SyntaxKind::function_definition)) return scope;
    scope = scopes.scope_of(scope);
  }
  return no_syntax;
}

const std::vector<SyntaxIndex>& PythonCode::calls_in(SyntaxIndex function) const {
  static const std::vector<SyntaxIndex> nothing;
  const auto found = calls_.find(function);
  return found == calls_.end() ? nothing : found->second;
}

}  // namespace opseal
