#include "analyzers/python/tangents.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace opseal {
namespace {

constexpr SyntaxIndex max_nodes = 100'000;
// Patterns within patterns.
constexpr std::size_t max_depth = 8;
constexpr std::size_t max_uses = 64;
constexpr std::size_t max_steps = 2'000'000;

class TangentReader {
 public:
  TangentReader(const PythonSyntax& syntax, std::string_view tangent) : syntax_(syntax) {
    tangents_.insert(tangent);
  }

  std::vector<SyntaxIndex> run(SyntaxIndex body) {
    const SyntaxIndex end = std::min(syntax_[body].next, body + max_nodes);
    for (SyntaxIndex index = body; index < end && uses_.size() < max_uses; ++index) {
      if (syntax_.is(index, SyntaxKind::function_definition) ||
          syntax_.is(index, SyntaxKind::lambda)) {
        index = syntax_[index].next - 1;
      } else if (syntax_.is(index, SyntaxKind::assignment)) {
        look_at_assignment(index);
      } else if (syntax_.is(index, SyntaxKind::call)) {
        look_at_call(index);
      }
    }
    return std::move(uses_);
  }

 private:
  // A question about a tangent (`type(dx) is Zero`) gives no tangent, and neither does its shape.
  bool mentions(SyntaxIndex part) {
    const SyntaxIndex end = std::min(syntax_[part].next, part + max_nodes);
    // Calls may stand within calls.
    steps_ += end - part;
    if (steps_ > max_steps) return false;
    for (SyntaxIndex index = part; index < end; ++index) {
      if (!syntax_.is(index, SyntaxKind::identifier)) continue;
      if (!tangents_.contains(syntax_.text_of(index))) continue;
      if (syntax_[index].field == SyntaxField::object &&
          syntax_.is(syntax_[index].parent, SyntaxKind::attribute)) {
        continue;
      }
      return true;
    }
    return false;
  }

  void look_at_assignment(SyntaxIndex assignment) {
    const SyntaxIndex target = syntax_.child(assignment, SyntaxField::left);
    const SyntaxIndex value = syntax_.child(assignment, SyntaxField::right);
    if (target != no_syntax && value != no_syntax) bind(target, value, 0);
  }

  // `(x,), (t,) = primals, tangents`: as far as both sides are rows of one length, part by part.
  void bind(SyntaxIndex target, SyntaxIndex value, std::size_t depth) {
    if (depth > max_depth) return;
    const SyntaxIndex plain = syntax_.unwrapped(value);
    if (!is_row(target)) {
      if (syntax_.is(target, SyntaxKind::identifier) && mentions(plain)) {
        tangents_.insert(syntax_.text_of(target));
      }
      return;
    }
    const std::vector<SyntaxIndex> targets = syntax_.children(target);
    const std::vector<SyntaxIndex> values =
        is_row(plain) ? syntax_.children(plain) : std::vector<SyntaxIndex>();
    const bool paired = targets.size() == values.size();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      bind(targets[i], paired ? values[i] : plain, depth + 1);
    }
  }

  bool is_row(SyntaxIndex index) const {
    return syntax_.is(index, SyntaxKind::pattern_list) ||
           syntax_.is(index, SyntaxKind::tuple_pattern) || syntax_.is(index, SyntaxKind::tuple) ||
           syntax_.is(index, SyntaxKind::expression_list);
  }

  void look_at_call(SyntaxIndex call) {
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(called, SyntaxKind::attribute) ||
        !syntax_.is(arguments, SyntaxKind::argument_list)) {
      return;
    }
    const SyntaxIndex name = syntax_.child(called, SyntaxField::attribute);
    if (name == no_syntax || syntax_.text_of(name) != "bind") return;
    for (const SyntaxIndex argument : syntax_.children(arguments)) {
      if (syntax_.is(argument, SyntaxKind::keyword_argument) || !mentions(argument)) continue;
      uses_.push_back(syntax_.unwrapped(syntax_.child(called, SyntaxField::object)));
      return;
    }
  }

  const PythonSyntax& syntax_;
  std::set<std::string_view> tangents_;
  std::vector<SyntaxIndex> uses_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<SyntaxIndex> python_tangent_uses(const PythonSyntax& syntax, const PythonFunction& rule,
                                             std::size_t place) {
  if (!rule.found || rule.node == no_syntax || rule.parameters.size() <= place) return {};
  const SyntaxIndex body = syntax.child(rule.node, SyntaxField::body);
  if (body == no_syntax) return {};
  return TangentReader(syntax, rule.parameters[place].name).run(body);
}

}  // namespace opseal
