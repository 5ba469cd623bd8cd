// Whether a file says that a primitive of JAX has several results.

#include <string_view>
#include <vector>

#include "analyzers/python/registration_builder.h"
#include "analyzers/python/result_sequences.h"
#include "opseal/text.h"

namespace opseal {

// A primitive of JAX has one result unless somebody says otherwise, which stands beside it.
void PythonRegistrationBuilder::read_multiple_results(PythonRegistration& made) {
  // Those of brainevent have several, always.
  if (made.how.ends_with("XLACustomKernel")) made.multiple_results = true;
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

// Rules that get the operands and their tangents or axes, and rules for the tangent of one operand.
void PythonRegistrationBuilder::read_sequences(PythonRegistration& made) {
  const std::string_view how = made.how;
  const bool each = how.ends_with("def_jvp_rule2");
  const bool with_axis =
      how.starts_with("axis_primitive_batchers") || how.starts_with("fancy_primitive_batchers");
  const bool pair = with_axis || how.starts_with("primitive_jvps") ||
                    how.starts_with("primitive_batchers") || how.ends_with("def_jvp_rule") ||
                    how.ends_with("def_batching_rule");
  if (!each && !pair) return;
  const PythonRuleShape shape = each ? PythonRuleShape::tangents : PythonRuleShape::pair;
  const std::size_t leading = each ? 0 : with_axis ? 3 : 2;
  for (std::size_t i = 0; i < made.functions.size(); ++i) {
    const PythonSequence one = python_result_sequences(
        syntax_, scopes_, returns_, made.functions[i], made.object, shape, leading);
    if (one.kind == PythonSequence::Kind::unknown && i > 0) continue;
    if (i == 0 || one.kind == PythonSequence::Kind::one) made.sequences = one;
    if (one.kind == PythonSequence::Kind::one) return;
  }
}

// Of something that is no name of a primitive by itself: `setattr(p, "multiple_results", True)`,
// `for one_p in primitives: one_p.multiple_results = True`.
bool PythonRegistrationBuilder::says_results_of_others() const {
  constexpr std::string_view word = "multiple_results";
  const std::string_view text = syntax_.text;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) {
    // `lower_fun(f, multiple_results=False)` speaks of the function, and says one.
    if (text.substr(at + word.size()).starts_with("=False")) continue;
    if (at == 0 || text[at - 1] != '.') return true;
    std::size_t begin = at - 1;
    while (begin > 0 && is_word_byte(text[begin - 1])) --begin;
    const std::string_view holder = text.substr(begin, at - 1 - begin);
    if (!holder.ends_with("_p")) return true;
    if (text.find("for " + std::string(holder) + " in") != text.npos) return true;
  }
  return false;
}

}  // namespace opseal
