#include "analyzers/python/saved_values.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace opseal {
namespace {

constexpr SyntaxIndex most_nodes = 50'000;
// Of one function.
constexpr std::size_t most_counts = 16;

// Number of parts; nothing where one of them stands for several.
std::optional<std::uint32_t> count_of(const PythonSyntax& syntax, SyntaxIndex row) {
  std::uint32_t count = 0;
  for (const SyntaxIndex part : syntax.children(row)) {
    switch (syntax[part].kind) {
      case SyntaxKind::list_splat:
      case SyntaxKind::list_splat_pattern:
      case SyntaxKind::dictionary_splat:
      case SyntaxKind::keyword_argument:
      case SyntaxKind::error:
      case SyntaxKind::for_in_clause:
        return {};
      default:
        ++count;
    }
  }
  return count;
}

bool is_pattern(const PythonSyntax& syntax, SyntaxIndex index) {
  return syntax.is(index, SyntaxKind::pattern_list) ||
         syntax.is(index, SyntaxKind::tuple_pattern) || syntax.is(index, SyntaxKind::list_pattern);
}

// `a, b = VALUE`
template <typename IsValue>
void read_taken(const PythonSyntax& syntax, SyntaxIndex body, const IsValue& is_value,
                PythonSavedCounts& counts) {
  for (const SyntaxIndex index : syntax.own_nodes(body, most_nodes)) {
    if (!syntax.is(index, SyntaxKind::assignment)) continue;
    const SyntaxIndex left = syntax.child(index, SyntaxField::left);
    const SyntaxIndex right = syntax.child(index, SyntaxField::right);
    if (!is_pattern(syntax, left) || right == no_syntax || !is_value(syntax.unwrapped(right))) {
      continue;
    }
    const std::optional<std::uint32_t> count = count_of(syntax, left);
    if (!count || counts.taken.size() == most_counts) continue;
    counts.taken.push_back({*count, syntax.place_of(left)});
  }
}

// The context itself is handed to something else, which may keep values, too.
bool hands_on(const PythonSyntax& syntax, SyntaxIndex index, std::string_view context) {
  return syntax.is(index, SyntaxKind::identifier) &&
         syntax.is(syntax[index].parent, SyntaxKind::argument_list) &&
         syntax.text_of(index) == context;
}

bool read_saved(const PythonSyntax& syntax, SyntaxIndex definition, SyntaxIndex backward,
                PythonSavedCounts& counts) {
  std::string_view context;
  for (SyntaxIndex index = definition; index < syntax[definition].next; ++index) {
    if (index == backward) {
      index = syntax[backward].next - 1;
      continue;
    }
    if (!syntax.is(index, SyntaxKind::attribute)) continue;
    if (!syntax.text_of(index).ends_with(".save_for_backward")) continue;
    const SyntaxIndex call = syntax[index].parent;
    const SyntaxIndex object = syntax.child(index, SyntaxField::object);
    const SyntaxIndex arguments =
        syntax.is(call, SyntaxKind::call) ? syntax.child(call, SyntaxField::arguments) : no_syntax;
    if (!syntax.is(object, SyntaxKind::identifier) ||
        !syntax.is(arguments, SyntaxKind::argument_list)) {
      return false;
    }
    const std::optional<std::uint32_t> count = count_of(syntax, arguments);
    if (!count || counts.saved.size() == most_counts) return false;
    context = syntax.text_of(object);
    counts.saved.push_back({*count, syntax.place_of(call)});
  }
  for (SyntaxIndex index = definition; index < syntax[definition].next; ++index) {
    if (index == backward) {
      index = syntax[backward].next - 1;
    } else if (hands_on(syntax, index, context)) {
      return false;
    }
  }
  return !counts.saved.empty();
}

// The number of residuals that one `return` hands back, in each of the ways it may do so.
bool read_residuals(const PythonSyntax& syntax, const PythonScopes& scopes, SyntaxIndex value,
                    PythonSavedCounts& counts) {
  const SyntaxIndex pair = syntax.unwrapped(value);
  if (!syntax.is(pair, SyntaxKind::expression_list) && !syntax.is(pair, SyntaxKind::tuple)) {
    return false;
  }
  const std::vector<SyntaxIndex> parts = syntax.children(pair);
  if (parts.size() != 2) return false;
  std::vector<SyntaxIndex> values = {syntax.unwrapped(parts[1])};
  // A list that has a name may grow.
  const bool named = syntax.is(values[0], SyntaxKind::identifier);
  if (named) {
    const SyntaxIndex name = values[0];
    values.clear();
    for (const PythonBinding& bound : scopes.find(syntax.text_of(name), name)) {
      if (bound.kind != PythonBinding::Kind::value ||
          !syntax.is(syntax[bound.name].parent, SyntaxKind::assignment)) {
        return false;
      }
      values.push_back(syntax.unwrapped(bound.value));
    }
  }
  for (const SyntaxIndex one : values) {
    if (!syntax.is(one, SyntaxKind::tuple) && !syntax.is(one, SyntaxKind::expression_list) &&
        (named || !syntax.is(one, SyntaxKind::list))) {
      return false;
    }
    const std::optional<std::uint32_t> count = count_of(syntax, one);
    if (!count || counts.saved.size() == most_counts) return false;
    counts.saved.push_back({*count, syntax.place_of(one)});
  }
  return true;
}

}  // namespace

PythonSavedCounts python_saved_tensors(const PythonSyntax& syntax, SyntaxIndex definition,
                                       SyntaxIndex forward, SyntaxIndex backward) {
  PythonSavedCounts counts;
  const SyntaxIndex body = syntax.child(backward, SyntaxField::body);
  if (body == no_syntax || forward == no_syntax) return {};
  if (syntax[definition].next - definition > most_nodes) return {};
  // Of what lies within another thing, `ctx.inner.saved_tensors`, somebody else saved them.
  const auto is_saved = [&syntax](SyntaxIndex value) {
    return syntax.is(value, SyntaxKind::attribute) &&
           syntax.is(syntax.child(value, SyntaxField::object), SyntaxKind::identifier) &&
           (syntax.text_of(value).ends_with(".saved_tensors") ||
            syntax.text_of(value).ends_with(".saved_variables"));
  };
  read_taken(syntax, body, is_saved, counts);
  if (counts.taken.empty() || !read_saved(syntax, definition, backward, counts)) return {};
  return counts;
}

PythonSavedCounts python_saved_residuals(const PythonSyntax& syntax, const PythonScopes& scopes,
                                         const PythonFunction& forward,
                                         const PythonFunction& backward) {
  if (!forward.found || !backward.found || forward.node == no_syntax ||
      backward.node == no_syntax || backward.parameters.size() < 2 || backward.variadic) {
    return {};
  }
  const SyntaxIndex before = syntax.child(forward.node, SyntaxField::body);
  const SyntaxIndex body = syntax.child(backward.node, SyntaxField::body);
  if (!syntax.is(before, SyntaxKind::block) || !syntax.is(body, SyntaxKind::block)) return {};
  // In front of the cotangent.
  const std::string_view name = backward.parameters[backward.parameters.size() - 2].name;
  const std::vector<PythonBinding>& bound = scopes.find(name, body);
  if (bound.size() != 1 || bound[0].kind != PythonBinding::Kind::parameter) return {};
  PythonSavedCounts counts;
  const auto is_residual = [&syntax, name](SyntaxIndex value) {
    return syntax.is(value, SyntaxKind::identifier) && syntax.text_of(value) == name;
  };
  read_taken(syntax, body, is_residual, counts);
  if (counts.taken.empty()) return {};
  for (const SyntaxIndex index : syntax.own_nodes(before, most_nodes)) {
    if (!syntax.is(index, SyntaxKind::return_statement)) continue;
    if (!read_residuals(syntax, scopes, syntax.first(index), counts)) return {};
  }
  return counts;
}

}  // namespace opseal
