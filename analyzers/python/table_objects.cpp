#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"
#include "analyzers/python/table_access.h"
#include "analyzers/python/tables.h"

namespace opseal {

std::vector<PythonTableObject> find_python_objects(std::string_view text) {
  const PythonSyntax syntax(text);
  const PythonScopes scopes(syntax);
  std::vector<PythonTableObject> objects;
  constexpr std::size_t most = 4096;
  for (SyntaxIndex index = 0; index < syntax.nodes.size() && objects.size() < most; ++index) {
    if (!syntax.is(index, SyntaxKind::assignment) || scopes.scope_of(index) != 0) continue;
    const SyntaxIndex left = syntax.child(index, SyntaxField::left);
    const SyntaxIndex right = syntax.unwrapped(syntax.child(index, SyntaxField::right));
    if (left == no_syntax || right == no_syntax || !syntax.is(left, SyntaxKind::identifier)) {
      continue;
    }
    const bool is_alias = syntax.is(right, SyntaxKind::attribute);
    if (!is_alias && !syntax.is(right, SyntaxKind::call)) continue;
    // `register = REG.register`
    const SyntaxIndex maker =
        syntax.child(right, is_alias ? SyntaxField::object : SyntaxField::function);
    if (maker == no_syntax) continue;
    const std::vector<std::string> names = scopes.full_names(maker);
    if (names.size() != 1) continue;
    PythonTableObject object{
        std::string(syntax.text_of(left)), std::string(last_name(names.front())), {}};
    if (is_alias) {
      const SyntaxIndex member = syntax.child(right, SyntaxField::attribute);
      if (member == no_syntax || !syntax.is(maker, SyntaxKind::identifier)) continue;
      // As it is written: of this file.
      object.made_by = syntax.text_of(maker);
      object.member = syntax.text_of(member);
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

}  // namespace opseal
