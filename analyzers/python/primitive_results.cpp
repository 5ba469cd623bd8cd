// Whether a file says that a primitive of JAX has several results.

#include <set>
#include <string>
#include <string_view>
#include <utility>
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
  if (*results_said_) return;
  made.multiple_results = false;
  read_takers();
  made.results_of.push_back(made.holder);
  const std::string_view kind = std::string_view(made.how).substr(made.how.rfind('.') + 1);
  if (kind != "Primitive") made.results_of.emplace_back(kind);
  const auto taken = takers_.find(made.holder);
  if (taken == takers_.end()) return;
  made.results_of.insert(made.results_of.end(), taken->second.begin(), taken->second.end());
}

// `setup.with_many_results(gather_p)`
void PythonRegistrationBuilder::read_takers() {
  if (std::exchange(takers_read_, true)) return;
  constexpr std::size_t most_takers = 64;
  for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
    if (!syntax_.is(index, SyntaxKind::identifier)) continue;
    SyntaxIndex above = syntax_[index].parent;
    if (syntax_.is(above, SyntaxKind::keyword_argument)) {
      if (syntax_[index].field != SyntaxField::value) continue;
      above = syntax_[above].parent;
    }
    if (!syntax_.is(above, SyntaxKind::argument_list)) continue;
    const SyntaxIndex call = syntax_[above].parent;
    if (!syntax_.is(call, SyntaxKind::call)) continue;
    std::set<std::string>& takers = takers_[syntax_.text_of(index)];
    if (takers.size() == most_takers) continue;
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    for (const std::string& name : scopes_.full_names(called)) {
      takers.insert(name.substr(name.rfind('.') + 1));
    }
  }
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
  std::set<std::string_view> holders;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) {
    // `lower_fun(f, multiple_results=False)` speaks of the function, and says one.
    if (text.substr(at + word.size()).starts_with("=False")) continue;
    if (at == 0 || text[at - 1] != '.') return true;
    std::size_t begin = at - 1;
    while (begin > 0 && is_word_byte(text[begin - 1])) --begin;
    const std::string_view holder = text.substr(begin, at - 1 - begin);
    if (!holder.ends_with("_p")) return true;
    holders.insert(holder);
  }
  constexpr std::string_view loop = "for ";
  for (std::size_t at = text.find(loop); at != text.npos; at = text.find(loop, at + loop.size())) {
    std::size_t end = at + loop.size();
    while (end < text.size() && is_word_byte(text[end])) ++end;
    const std::string_view name = text.substr(at + loop.size(), end - at - loop.size());
    if (holders.contains(name) && text.substr(end).starts_with(" in")) return true;
  }
  return false;
}

}  // namespace opseal
