#include "analyzers/python/result_sequences.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace opseal {
namespace {

using Kind = PythonSequence::Kind;

constexpr std::size_t max_depth = 8;
// Of a rule; names may lead to names, each several times.
constexpr std::size_t max_steps = 4096;
constexpr std::size_t most_bindings = 4;

class SequenceReader {
 public:
  SequenceReader(const PythonSyntax& syntax, const PythonScopes& scopes, PythonReturns& returns,
                 const PythonFunction& rule, std::string_view primitive, std::size_t leading)
      : syntax_(syntax),
        scopes_(scopes),
        returns_(returns),
        rule_(rule),
        bind_(std::string(primitive) + ".bind"),
        leading_(leading) {}

  PythonSequence run(PythonRuleShape shape) {
    const SyntaxIndex body = syntax_.child(rule_.node, SyntaxField::body);
    if (body == no_syntax) return {};
    std::vector<SyntaxIndex> handed;
    if (syntax_.is(rule_.node, SyntaxKind::lambda)) {
      handed.push_back(body);
    } else {
      for (const SyntaxIndex index : syntax_.own_nodes(body)) {
        if (syntax_.is(index, SyntaxKind::return_statement)) handed.push_back(syntax_.first(index));
      }
    }
    PythonSequence all;
    for (std::size_t i = 0; i < handed.size(); ++i) {
      const PythonSequence one = shape == PythonRuleShape::pair ? pair(handed[i]) : part(handed[i]);
      // A function that serves several primitives may hand back either.
      if (i > 0 && one.kind != all.kind && one.kind != Kind::unknown && all.kind != Kind::unknown) {
        return {};
      }
      if (one.kind == Kind::one || i == 0) {
        all = one;
      } else if (one.kind == Kind::unknown && all.kind == Kind::sequence) {
        all = one;
      }
    }
    return all;
  }

 private:
  PythonSequence pair(SyntaxIndex expression) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (!syntax_.is(value, SyntaxKind::tuple) && !syntax_.is(value, SyntaxKind::expression_list)) {
      return {};
    }
    const std::vector<SyntaxIndex> parts = syntax_.children(value);
    if (parts.size() != 2 || std::any_of(parts.begin(), parts.end(), [this](SyntaxIndex one) {
          return syntax_.text_of(one).starts_with('*');
        })) {
      return {};
    }
    const PythonSequence first = part(parts[0]);
    const PythonSequence second = part(parts[1]);
    if (first.kind == Kind::one) return first;
    return second.kind == Kind::one || first.kind == Kind::sequence ? second : first;
  }

  PythonSequence part(SyntaxIndex expression) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax) return {};
    return {kind_of(value, 0), syntax_.place_of(value)};
  }

  Kind kind_of(SyntaxIndex expression, std::size_t depth) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax || depth == max_depth || ++steps_ > max_steps) return Kind::unknown;
    switch (syntax_[value].kind) {
      case SyntaxKind::tuple:
      case SyntaxKind::expression_list:
      case SyntaxKind::list:
      case SyntaxKind::list_comprehension:
        return Kind::sequence;
      // The axis of one.
      case SyntaxKind::integer:
        return Kind::one;
      case SyntaxKind::identifier:
        return kind_of_name(value, depth);
      case SyntaxKind::subscript:
        return kind_of_subscript(value, depth);
      case SyntaxKind::call:
        return kind_of_call(value);
      case SyntaxKind::binary_operator:
        return kind_of_operation(value, depth);
      case SyntaxKind::conditional_expression: {
        const std::vector<SyntaxIndex> parts = syntax_.children(value);
        if (parts.size() != 3) return Kind::unknown;
        const Kind yes = kind_of(parts[0], depth + 1);
        return yes == kind_of(parts[2], depth + 1) ? yes : Kind::unknown;
      }
      default:
        return returns_.is_array(value) ? Kind::one : Kind::unknown;
    }
  }

  // An array with anything is one array; a tuple is repeated and joined by integers and tuples.
  Kind kind_of_operation(SyntaxIndex operation, std::size_t depth) {
    for (const SyntaxField side : {SyntaxField::left, SyntaxField::right}) {
      const SyntaxIndex operand = syntax_.unwrapped(syntax_.child(operation, side));
      if (operand == no_syntax || syntax_.is(operand, SyntaxKind::integer)) continue;
      const Kind kind = kind_of(operand, depth + 1);
      if (kind != Kind::unknown) return kind;
    }
    return returns_.is_array(operation) ? Kind::one : Kind::unknown;
  }

  Kind kind_of_call(SyntaxIndex call) const {
    constexpr std::array<std::string_view, 6> makers{"tuple", "list",     "map",
                                                     "zip",   "safe_map", "safe_zip"};
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    if (function == no_syntax) return Kind::unknown;
    const std::string_view name = syntax_.text_of(function);
    const bool makes = std::find(makers.begin(), makers.end(), name) != makers.end();
    if (makes || name == bind_) return Kind::sequence;
    return returns_.is_array(call) ? Kind::one : Kind::unknown;
  }

  // `primals[0]`, `outs[-1]`: one of several. `outs[:1]` are several.
  Kind kind_of_subscript(SyntaxIndex subscript, std::size_t depth) {
    const std::vector<SyntaxIndex> parts = syntax_.children(subscript);
    if (parts.size() != 2) return Kind::unknown;
    const SyntaxIndex place = syntax_.unwrapped(parts[1]);
    if (place == no_syntax) return Kind::unknown;
    const std::string_view digits = syntax_.text_of(place);
    const bool number =
        syntax_.is(place, SyntaxKind::integer) ||
        (syntax_.is(place, SyntaxKind::unary_operator) && digits.size() == 2 && digits[0] == '-');
    return number && is_row(parts[0], depth) ? Kind::one : Kind::unknown;
  }

  Kind kind_of_name(SyntaxIndex name, std::size_t depth) {
    const std::vector<PythonBinding>& bindings = scopes_.find(syntax_.text_of(name), name);
    if (bindings.empty() || bindings.size() > most_bindings) return Kind::unknown;
    Kind all = Kind::unknown;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      const Kind one = kind_of_binding(bindings[i], name, depth);
      if (one == Kind::unknown || (i > 0 && one != all)) return Kind::unknown;
      all = one;
    }
    return all;
  }

  Kind kind_of_binding(const PythonBinding& binding, SyntaxIndex use, std::size_t depth) {
    switch (binding.kind) {
      case PythonBinding::Kind::value:
        // Of a name that is bound to what stands behind it nothing is known here.
        return binding.value < use ? kind_of(binding.value, depth + 1) : Kind::unknown;
      case PythonBinding::Kind::other:
        return is_unpacked(binding) && is_row(binding.value, depth) ? Kind::one : Kind::unknown;
      case PythonBinding::Kind::parameter:
        // `rule(tangent, x, y)`: each of them is an array.
        return leading_ == 0 && is_positional(binding.value) ? Kind::one : Kind::unknown;
      default:
        return Kind::unknown;
    }
  }

  // Directly in the brackets that take the value apart: `x, y = primals`, or one of
  // `(x,), (t,) = primals, tangents`.
  bool is_unpacked(const PythonBinding& binding) const {
    if (binding.name == no_syntax || binding.value == no_syntax) return false;
    const SyntaxIndex pattern = syntax_[binding.name].parent;
    if (!is_pattern(pattern)) return false;
    const SyntaxIndex above = syntax_[pattern].parent;
    if (syntax_.is(above, SyntaxKind::assignment)) {
      return binding.value == syntax_.child(above, SyntaxField::right);
    }
    const SyntaxIndex assignment = is_pattern(above) ? syntax_[above].parent : no_syntax;
    return syntax_.is(assignment, SyntaxKind::assignment) &&
           binding.value != syntax_.child(assignment, SyntaxField::right) &&
           syntax_[binding.value].parent == syntax_.child(assignment, SyntaxField::right);
  }

  bool is_pattern(SyntaxIndex index) const {
    return syntax_.is(index, SyntaxKind::pattern_list) ||
           syntax_.is(index, SyntaxKind::tuple_pattern) ||
           syntax_.is(index, SyntaxKind::list_pattern);
  }

  // Operands, tangents, axes, or the results of the primitive itself: one thing for each.
  bool is_row(SyntaxIndex expression, std::size_t depth) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax || depth == max_depth || ++steps_ > max_steps) return false;
    if (syntax_.is(value, SyntaxKind::call)) {
      const SyntaxIndex function = syntax_.child(value, SyntaxField::function);
      return function != no_syntax && syntax_.text_of(function) == bind_;
    }
    if (!syntax_.is(value, SyntaxKind::identifier)) return false;
    const PythonBinding* binding = scopes_.only(syntax_.text_of(value), value);
    if (binding == nullptr) return false;
    if (binding->kind == PythonBinding::Kind::value) return is_row(binding->value, depth + 1);
    if (binding->kind != PythonBinding::Kind::parameter || leading_ == 0) return false;
    const std::string_view name = syntax_.text_of(value);
    const auto& parameters = rule_.parameters;
    for (std::size_t i = 0; i < std::min(parameters.size(), leading_); ++i) {
      if (parameters[i].name == name) return scopes_.scope_of(binding->value) == rule_.node;
    }
    return false;
  }

  bool is_positional(SyntaxIndex parameter) const {
    const std::string_view name = syntax_.text_of(parameter);
    return std::any_of(rule_.parameters.begin(), rule_.parameters.end(),
                       [name](const PythonParameter& one) {
                         return one.name == name && !one.keyword_only && one.standard.empty();
                       });
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  PythonReturns& returns_;
  const PythonFunction& rule_;
  std::string bind_;
  // Parameters that hold one thing for each operand.
  std::size_t leading_;
  std::size_t steps_ = 0;
};

}  // namespace

PythonSequence python_result_sequences(const PythonSyntax& syntax, const PythonScopes& scopes,
                                       PythonReturns& returns, const PythonFunction& rule,
                                       std::string_view primitive, PythonRuleShape shape,
                                       std::size_t leading) {
  if (!rule.found || rule.node == no_syntax) return {};
  return SequenceReader(syntax, scopes, returns, rule, primitive, leading).run(shape);
}

}  // namespace opseal
