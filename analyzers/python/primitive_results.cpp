// Whether a file says that a primitive of JAX has several results.

#include <string_view>
#include <vector>

#include "analyzers/python/registration_builder.h"

namespace opseal {

// A primitive of JAX has one result unless somebody says otherwise, which stands beside it.
void PythonRegistrationBuilder::read_multiple_results(PythonRegistration& made) {
  if (!made.how.ends_with("Primitive") || made.holder.empty()) return;
  const std::vector<SyntaxIndex>& said = scopes_.assigned(made.holder + ".multiple_results");
  if (!said.empty()) {
    if (said.size() == 1 && said[0] != no_syntax) {
      const bool yes = syntax_.is(said[0], SyntaxKind::true_value);
      if (yes || syntax_.is(said[0], SyntaxKind::false_value)) made.multiple_results = yes;
    }
    return;
  }
  // `for p in primitives: p.multiple_results = True`
  if (!results_said_) results_said_ = says_results_of_others();
  if (!*results_said_) made.multiple_results = false;
}

// Of something that is no name of a primitive by itself.
bool PythonRegistrationBuilder::says_results_of_others() const {
  constexpr std::string_view word = ".multiple_results";
  for (std::size_t at = syntax_.text.find(word); at != std::string_view::npos;
       at = syntax_.text.find(word, at + word.size())) {
    if (at < 2 || syntax_.text.substr(at - 2, 2) != "_p") return true;
  }
  return false;
}

}  // namespace opseal
